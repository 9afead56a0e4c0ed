"""Outdated reads: results that show a file which was successfully written afterwards."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from refold.files.calls import CallEffects
from refold.files.shell import Effects, Touch
from refold.messages.message import Message
from refold.plan.layout import Key

_SESSIONS: Final = frozenset({"claude-code", "codex"})
"""Formats of session files, which record the working directory."""
_LONGEST: Final = 4_096
"""No directory has a longer path."""

_Name = tuple[str, str]
"""The path of a file if a shell keeps its directory between calls, and if each call starts
afresh."""


@dataclass(slots=True)
class _WorkingDirectory:
    """The working directory of commands: unknown is whether a shell keeps it between calls.

    So both cases are tracked, and two files are the same only if they are in both.
    """

    kept: str = ""
    fresh: str = ""
    stays: bool = True

    def reset(self, directory: str) -> None:
        """Set the directory that a session file records."""
        self.kept = self.fresh = directory

    def name(self, path: str, directory: str | None) -> _Name:
        """Resolve *path* from the *directory* of a shell; `None` for other tools."""
        fresh = _resolve(self.fresh, directory or "", path)
        return fresh if directory is None else _resolve(self.kept, directory, path), fresh

    def move(self, directory: str) -> None:
        """Change to *directory*; a shell that can enter it twice does not keep its directory."""
        kept = _resolve(self.kept, directory)
        self.stays = self.stays and len(kept) <= _LONGEST
        if not directory.startswith("/") and kept.endswith(f"{directory}/{directory}"):
            self.stays = False
        self.kept = kept if self.stays else self.fresh


def _resolve(*steps: str) -> str:
    rooted = max((n for n, step in enumerate(steps) if step.startswith("~")), default=0)
    return posixpath.normpath(posixpath.join(*steps[rooted:]))


@dataclass(slots=True)
class _Call:
    """What a call does with which files."""

    effects: Effects
    names: list[_Name]
    """The files that it touches, in order."""


@dataclass(slots=True)
class _Read:
    """A result that shows files, and which of these were not written since."""

    keys: list[Key]
    current: set[_Name]


def find_superseded(
    messages: Sequence[Message], effects: CallEffects | None = None
) -> frozenset[Key]:
    """Return the texts that show outdated files."""
    effects = CallEffects() if effects is None else effects
    directory = _WorkingDirectory()
    calls: dict[str, _Call] = {}
    shown: dict[_Name, list[_Read]] = {}
    outdated: set[Key] = set()
    for message in messages:
        recorded = _recorded_directory(message)
        if recorded:
            directory.reset(recorded)
        calls.update(_calls(message, directory, effects))
        for id_, numbers in _answers(message).items():
            call = calls.get(id_)
            if call is None:
                continue
            verdict = Verdict(message, numbers, [touch.path for touch in call.effects.touched])
            outdated.update(_follow(call, verdict, shown))
            if call.effects.directory != "":
                directory.move(call.effects.directory or "?")
    return frozenset(outdated)


def _follow(call: _Call, verdict: Verdict, shown: dict[_Name, list[_Read]]) -> Iterator[Key]:
    """Note what a call reads and writes, in order; yield the texts that this outdates."""
    touched = list(zip(call.effects.touched, call.names, strict=True))
    read = _Read(verdict.keys, {name for touch, name in touched if not touch.is_write})
    shows_files = call.effects.shows_files and verdict.status in (None, 0)
    for touch, name in touched:
        if not touch.is_write:
            if shows_files:
                shown.setdefault(name, []).append(read)
        elif _is_done(touch, verdict):
            for earlier in shown.pop(name, ()):
                earlier.current.discard(name)
                if not earlier.current:
                    yield from earlier.keys


def _is_done(touch: Touch, verdict: Verdict) -> bool:
    """Tell whether a file was written: the status says so, or nothing says otherwise."""
    if verdict.status == 0 and touch.is_told:
        return True
    return verdict.status in (None, 0) and not touch.is_asked and verdict.is_quiet


def _recorded_directory(message: Message) -> str:
    """Return the working directory that a session file records, if it does."""
    if message.format not in _SESSIONS:
        return ""
    for record in (message.wire, message.wire.get("payload")):
        told = record.get("cwd") if isinstance(record, Mapping) else None
        if isinstance(told, str):
            return told
    return ""


def _calls(
    message: Message, directory: _WorkingDirectory, effects: CallEffects
) -> Iterator[tuple[str, _Call]]:
    for call in message.calls:
        found, entered = effects.of(call)
        if found is not None:
            names = [directory.name(touch.path, entered) for touch in found.touched]
            yield call.id, _Call(found, names)


def _answers(message: Message) -> dict[str, list[int]]:
    """Map each call that *message* answers to the numbers of the texts that do."""
    answers: dict[str, list[int]] = {}
    for number, part in enumerate(message.parts):
        if part.call_id:
            answers.setdefault(part.call_id, []).append(number)
    return answers


_LOOKED_AT: Final = 300
"""Characters at the beginning or end of a result that are searched."""
_STATUS_FIRST: Final = re.compile(
    r"^(?:<(?:returncode|exit_?code)>\s*+|Exit code:? ?|Process exited with code )(-?[0-9]{1,10})",
    re.MULTILINE,
)
_STATUS_LAST: Final = re.compile(
    r"\"metadata\": ?\{\"exit_code\": ?(-?[0-9]{1,10})"
    r"|ommand (?:completed|finished|exited) with (?:exit )?(?:code|status):? (-?[0-9]{1,10})"
)
"""Where agents put the exit status of a command: before its output, or after it."""
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
"""The first words of a tool; the lines that it wrote often follow, and may say anything."""
_COMPLAINT: Final = re.compile(
    r"^(?:(?:/(?:usr/)?bin/)?(?:(?:ba|z|da)?sh|sed|perl|tee|mv|cp|rm|cd|cat|dd|truncate|patch|git"
    r"|error|fatal): |Can't open )",
    re.MULTILINE,
)
"""How a shell and its programs begin error messages."""


class Verdict:
    """What the texts of a message say about the success of the call that they answer."""

    def __init__(self, message: Message, numbers: Sequence[int], paths: Sequence[str]) -> None:
        self.keys: Final = [(message.index, number) for number in numbers]
        self._parts = [message.parts[number] for number in numbers]
        self._paths = paths
        """File names, which say nothing about success."""
        results = dict.fromkeys(part.result for part in self._parts)
        self._is_flagged = any(result is not None and result.has_failed for result in results)

    @cached_property
    def status(self) -> int | None:
        """The exit status, if there is one; 1 if the result is flagged as an error."""
        if self._is_flagged:
            return 1
        statuses = (_status(part.text) for part in self._parts)
        return next((status for status in statuses if status is not None), None)

    @cached_property
    def is_quiet(self) -> bool:
        """Whether nothing reports a failure; with a status, only error messages of a shell do."""
        if self.status is not None:
            return not any(_COMPLAINT.search(part.text) for part in self._parts)
        return not any(_tells_of_failure(part.text, self._paths) for part in self._parts)


def _status(text: str) -> int | None:
    found = _STATUS_FIRST.search(text[:_LOOKED_AT]) or _STATUS_LAST.search(text[-_LOOKED_AT:])
    return None if found is None else int(next(filter(None, found.groups())))


def _tells_of_failure(text: str, paths: Iterable[str]) -> bool:
    said = text[:_LOOKED_AT]
    for path in paths:
        said = said.replace(path, "")
    first = _FIRST_WORDS.match(said)
    if first is not None and not _FAILED.search(first[0]) and _DONE.search(first[0]):
        return False
    return _FAILED.search(said) is not None
