"""Reads that are out of date: the file was written afterwards, and the write succeeded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from refold.model.message import Message, Part
from refold.planner.field import calls_of
from refold.planner.items import Shape, find_items, shape_of
from refold.planner.layout import Key

# What a tool is called says what it does; whether it was done, its result says.
_WRITES: Final = re.compile(r"(?i)write|edit|replace|create|patch|insert|update|append|save")
_READS: Final = re.compile(r"(?i)read|view|open|cat|get|show|fetch")
_COMMAND: Final = re.compile(r'"command":\s?"(\w++)"')
"""One tool may do both: then it is told which."""
_FAILED: Final = re.compile(
    r"(?i)(?<![a-z])(?:error(?!\"?: ?(?:null|none|false|0|\"\"))"
    r"|fail(?:ed|ure)|exception|traceback|denied|rejected|declined|refused|cancell?ed|aborted"
    r"|timed out|not (?:found|applied|written|saved|unique|been read)|no (?:such|match|replacement)"
    r"|invalid|unable|could not|cannot|did not|doesn't|multiple (?:matches|occurrences)|matches of"
    r"|(?:code|status):? ?[1-9])(?![a-z])|\"(?:success|ok)\": ?false"
)
_DONE: Final = re.compile(
    r"(?i)(?<![a-z])"
    r"(?:success(?:fully)?|ha(?:s|ve) been|wrote|written|created|updated|applied|saved)(?![a-z])"
)
_FIRST_WORDS: Final = re.compile(r"[^a-zA-Z]*+[^\n]*+")
"""What a tool says first; often the lines that it wrote follow, which may say anything."""
_TARGET: Final = re.compile(
    r'"(?:file|path|target|dest|to|uri|notebook)[\w-]*+"\s*+:\s*+"([^"\\\s]++)"'
)
_VALUE: Final = re.compile(r'"([^"\\\s]++)"')
_PATHS: Final = (Shape.PATH, Shape.DOTTED)
_SEEN: Final = 300
"""How much is looked at: of a result to tell whether it failed, of arguments to find a path."""


@dataclass(frozen=True, slots=True)
class _Call:
    """What a tool was asked to do, and with which files."""

    verb: str
    paths: frozenset[str]


def find_superseded(messages: Sequence[Message]) -> frozenset[Key]:
    """Return the texts that show a file as it is no longer."""
    calls: dict[str, _Call] = {}
    shown: dict[str, list[Key]] = {}
    outdated: set[Key] = set()
    for message in messages:
        calls.update(_calls(message))
        for id_, numbers in _answers(message).items():
            call = calls.get(id_)
            if call is None:
                continue
            if _WRITES.search(call.verb):
                if not any(_has_failed(message, message.parts[n], call.paths) for n in numbers):
                    for path in call.paths:
                        outdated.update(shown.pop(path, ()))
            elif _READS.search(call.verb):
                for path in call.paths:
                    shown.setdefault(path, []).extend((message.index, n) for n in numbers)
    return frozenset(outdated)


def _calls(message: Message) -> Iterator[tuple[str, _Call]]:
    for id_, text in calls_of(message):
        name, _, rest = text.partition(" ")
        arguments = rest if len(rest) <= 2 * _SEEN else rest[:_SEEN] + rest[-_SEEN:]
        command = _COMMAND.search(arguments) if _WRITES.search(name) else None
        yield id_, _Call(command[1] if command else name, _paths(arguments))


def _paths(arguments: str) -> frozenset[str]:
    """Return what looks like a file: a whole value of JSON, or any word of other arguments.

    Where a name tells which value is meant, no other is.
    """
    found = _TARGET.findall(arguments)
    if not found:
        is_json = arguments.startswith("{")
        found = _VALUE.findall(arguments) if is_json else find_items(arguments)
    return frozenset(item for item in found if shape_of(item) in _PATHS)


def _answers(message: Message) -> dict[str, list[int]]:
    """Map each call that *message* answers to the texts that do."""
    answers: dict[str, list[int]] = {}
    for number, part in enumerate(message.parts):
        if part.call_id:
            answers.setdefault(part.call_id, []).append(number)
    return answers


def _has_failed(message: Message, part: Part, paths: Iterable[str]) -> bool:
    """Tell whether a result says that it failed, by a flag or in its first words.

    The names of files say nothing about that.
    """
    value: Any = message.wire
    for step in part.path:
        value = value[step]
        if isinstance(value, Mapping) and value.get("is_error") is True:
            return True
    said = part.text[:_SEEN]
    for path in paths:
        said = said.replace(path, "")
    first = _FIRST_WORDS.match(said)
    if first is not None and not _FAILED.search(first[0]) and _DONE.search(first[0]):
        return False
    return _FAILED.search(said) is not None
