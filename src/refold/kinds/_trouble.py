"""Finding what went wrong: errors, warnings, exits that are not 0, and the trace below them.

In source code and prose the word "error" is everywhere, so there only lines that *start* like an
error count: one pattern, which runs over the text once. In what a program wrote, more of them do:
needles are looked for in the whole text, which is fast, and only the lines that hold one are
looked at more closely.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from string import ascii_lowercase, ascii_uppercase
from typing import Final, NamedTuple

from refold.kinds._frames import TRACEBACK, follow_trace
from refold.kinds._lines import Spot, tile
from refold.kinds._rules import Marks
from refold.kinds._signs import GRADES, IN_SOURCE, NEEDLES, judge_output
from refold.kinds._wrapping import mark_wrapping
from refold.kinds.base import BAD_SUMMARY, ERROR, LONG, REPEAT, SETTLED, SUMMARY, Grade, Pieces

_TO_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_BEFORE: Final = 160
"""How much of a long line before a needle is looked at."""
_MOST: Final = {"error": 120, "warning": 30, "exit": 20}
"""How many lines of one text can be a must for this reason."""


class Trouble(NamedTuple):
    """A place that tells of trouble, the line it lies in, and how bad it is."""

    place: int
    start: int
    end: int
    grade: Grade


def split_source(text: str, marks: Marks) -> Pieces:
    """Cut a text that may talk about errors: by line, by *marks*, by what went wrong."""
    return tile(text, marks, settle(text, find_in_source(text), marks))


def split_output(text: str, marks: Marks, template: Callable[[str], str] = str.strip) -> Pieces:
    """Cut what a program wrote: by line, by *marks*, by what went wrong."""
    return tile(text, marks, settle(text, find_in_output(text), marks, template))


def settle(
    text: str,
    troubles: Iterable[Trouble],
    marks: Marks,
    template: Callable[[str], str] = str.strip,
) -> list[Spot]:
    """Add *troubles* and the traces below them to *marks*; return those that lie in long lines.

    Lines with the same *template* repeat each other: only the first is a must.
    """
    mark_wrapping(text, marks)
    spots: list[Spot] = []
    seen: set[str] = set()
    left = dict(_MOST)
    followed = -1
    for place, start, end, grade in troubles:
        is_long = end - start > LONG
        line = template(text[place : place + LONG] if is_long else text[start:end])
        known = marks.get(start)
        if known is not None and (known.must or known is REPEAT or known is SETTLED):
            seen.add(line)
            continue
        left[grade.label] -= 1
        if known is SUMMARY:
            verdict = BAD_SUMMARY
        else:
            verdict = REPEAT if line in seen or left[grade.label] < 0 else grade
        seen.add(line)
        if is_long:
            spots.append((place, verdict))
        else:
            marks[start] = verdict
        # All tracebacks start with the same words; what tells them apart stands below.
        is_new = verdict is ERROR or (left[grade.label] >= 0 and TRACEBACK in text[start:end])
        if is_new and end > followed:
            followed = end
            follow_trace(text, start, end, marks, seen)
    return spots


def find_in_source(text: str) -> Iterator[Trouble]:
    """Yield the lines that start like an error, a warning or a bad exit."""
    return find_starts(IN_SOURCE, text)


def find_starts(pattern: re.Pattern[str], text: str) -> Iterator[Trouble]:
    """Yield the lines that start as *pattern* says, which begins with the line break before.

    Its groups are named as in `GRADES`.
    """
    for found in pattern.finditer("\n" + text):
        start = found.start()
        end = text.find("\n", start)
        yield Trouble(start, start, len(text) if end < 0 else end, GRADES[found.lastgroup or ""])


def find_in_output(text: str) -> Iterator[Trouble]:
    """Yield what tells of trouble in a program's output: once a line, more often in a long one."""
    for place, start, end in _suspects(text):
        low = start if end - start <= LONG else max(start, place - _BEFORE)
        grade = judge_output(text[low : min(end, place + LONG)])
        if grade is not None:
            yield Trouble(place, start, end, grade)


def _suspects(text: str) -> list[tuple[int, int, int]]:
    """Find the lines that hold a needle: place of the needle, start and end of its line."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when they become small
        lower = text.translate(_TO_LOWER)
    found: dict[int, tuple[int, int, int]] = {}
    for needle in NEEDLES:
        start, end = 0, -1
        at = lower.find(needle)
        while at >= 0:
            if at >= end:
                start = text.rfind("\n", max(end, 0), at) + 1 or start
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
            if end - start <= LONG:
                found.setdefault(start, (at, start, end))
                at = lower.find(needle, end)
            else:
                found.setdefault(at // LONG + len(text), (at, start, end))
                at = lower.find(needle, min(end, at + LONG))
    return sorted(found.values())
