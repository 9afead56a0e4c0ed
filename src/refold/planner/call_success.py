"""Whether a tool call succeeded: an exit status or a flag tells, else the words of its result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Final

from refold.model.failure import is_failure
from refold.model.message import Message, Part

_SEEN: Final = 300
"""How much of a result is looked at."""
_STATUS_FIRST: Final = re.compile(
    r"^(?:<(?:returncode|exit_?code)>\s*+|Exit code:? ?|Process exited with code )(-?[0-9]{1,10})",
    re.MULTILINE,
)
_STATUS_LAST: Final = re.compile(
    r"\"metadata\": ?\{\"exit_code\": ?(-?[0-9]{1,10})"
    r"|ommand (?:completed|finished|exited) with (?:exit )?(?:code|status):? (-?[0-9]{1,10})"
)
"""Where programs that run commands tell the exit status: before the output, or after it."""
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
_COMPLAINT: Final = re.compile(
    r"^(?:(?:/(?:usr/)?bin/)?(?:(?:ba|z|da)?sh|sed|perl|tee|mv|cp|rm|cd|cat|dd|truncate|patch|git"
    r"|error|fatal): |Can't open )",
    re.MULTILINE,
)
"""How a shell and its programs begin what they say when they cannot do something."""


class Verdict:
    """What the texts of a message tell of the call that they answer."""

    def __init__(self, message: Message, numbers: Sequence[int], paths: Sequence[str]) -> None:
        self.keys: Final = [(message.index, number) for number in numbers]
        self._parts = [message.parts[number] for number in numbers]
        self._paths = paths
        """The names of files say nothing about success."""
        self._is_flagged = any(_is_flagged(message, part) for part in self._parts)

    @cached_property
    def status(self) -> int | None:
        """The exit status, where one is told; a flag that something went wrong counts as one."""
        if self._is_flagged:
            return 1
        statuses = (_status(part.text) for part in self._parts)
        return next((status for status in statuses if status is not None), None)

    @cached_property
    def is_quiet(self) -> bool:
        """Whether nothing tells of a failure; where a status does, only complaints can."""
        if self.status is not None:
            return not any(_COMPLAINT.search(part.text) for part in self._parts)
        return not any(_tells_of_failure(part.text, self._paths) for part in self._parts)


def _is_flagged(message: Message, part: Part) -> bool:
    """Tell whether a field of the message, or of what holds the text, says that a tool failed."""
    value: Any = message.wire
    if is_failure(value):
        return True
    for step in part.path:
        value = value[step]
        if is_failure(value):
            return True
    return False


def _status(text: str) -> int | None:
    found = _STATUS_FIRST.search(text[:_SEEN]) or _STATUS_LAST.search(text[-_SEEN:])
    return None if found is None else int(next(filter(None, found.groups())))


def _tells_of_failure(text: str, paths: Iterable[str]) -> bool:
    said = text[:_SEEN]
    for path in paths:
        said = said.replace(path, "")
    first = _FIRST_WORDS.match(said)
    if first is not None and not _FAILED.search(first[0]) and _DONE.search(first[0]):
        return False
    return _FAILED.search(said) is not None
