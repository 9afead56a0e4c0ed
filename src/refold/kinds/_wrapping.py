"""What harnesses put around a result: it is the same each time, and tells nothing."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds._rules import GradesByLine
from refold.kinds.base import NOISE

_REMINDER: Final = "<system-reminder>"
_REMINDER_END: Final = "</system-reminder>"
_SUCCESS: Final = re.compile(r"<(?:returncode|exit_code)>0</[^\n]*+\n(?:<(?:output|stdout)>\n)?")


def mark_wrapping(text: str, marks: GradesByLine) -> None:
    """Grade the lines of *text* that a harness added."""
    if text.startswith("<") and (found := _SUCCESS.match(text)):
        _mark_lines(text, 0, found.end(), marks)
    start = text.find("\n" + _REMINDER) + 1
    while start:
        end = text.find(_REMINDER_END, start)
        if end < 0:
            return
        _mark_lines(text, start, end, marks)
        start = text.find("\n" + _REMINDER, end) + 1


def _mark_lines(text: str, start: int, end: int, marks: GradesByLine) -> None:
    while start < end:
        marks[start] = NOISE
        start = text.find("\n", start, end) + 1 or end
