"""Outdated reads: results that show a file which was successfully written afterwards."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from refold.files import Effects, effects_of
from refold.messages.message import Message
from refold.plan.layout import Key


@dataclass(slots=True)
class _Read:
    """A result that shows files, and which of these were not written since."""

    keys: list[Key]
    current: set[str]


def find_superseded(messages: Sequence[Message]) -> frozenset[Key]:
    """Return the texts that show outdated files."""
    calls: dict[str, Effects] = {}
    shown: dict[str, list[_Read]] = {}
    """Name of a file without its folders → what shows it."""
    outdated: set[Key] = set()
    for message in messages:
        calls.update((call.id, effects_of(call)) for call in message.calls)
        for id_, numbers in _answers(message).items():
            reads, writes = calls.get(id_, Effects())
            verdict = Verdict(message, numbers, [*reads, *writes])
            if verdict.status not in (None, 0):
                continue
            read = _Read(verdict.keys, set(reads))
            for path in reads:
                shown.setdefault(posixpath.basename(path), []).append(read)
            for path in writes if writes and verdict.is_quiet else ():
                for earlier in shown.get(posixpath.basename(path), ()):
                    earlier.current -= {other for other in earlier.current if _is_same(path, other)}
                    if not earlier.current:
                        outdated.update(earlier.keys)
    return frozenset(outdated)


def _is_same(path: str, other: str) -> bool:
    """Return whether two paths may be of one file, seen from different folders."""
    return f"/{path}".endswith(f"/{other}") or f"/{other}".endswith(f"/{path}")


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
