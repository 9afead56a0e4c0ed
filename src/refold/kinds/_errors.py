"""Find errors in the output of tools: messages, warnings, exits other than 0, stack traces.

In source code and prose the word "error" is everywhere, so there only lines that *start* like an
error count: one pattern, which runs over the text once. In what a program wrote, more of them do:
needles are looked for in the whole text, which is fast, and only the lines that hold one are
looked at more closely.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from operator import attrgetter
from string import ascii_lowercase, ascii_uppercase
from typing import Final, NamedTuple

from refold.kinds._error_patterns import (
    ANY_NEEDLE,
    FOREIGN_NEEDLES,
    FRAME,
    GRADES,
    IN_SOURCE,
    LIBRARY,
    MAY_TELL,
    NEEDLES,
    PLAIN_FIELD,
    judge_output,
)
from refold.kinds._lines import GradesByLine, Spot, tile
from refold.kinds.base import (
    BAD_SUMMARY,
    DETAIL,
    ERROR,
    EXIT,
    FAILURE,
    LONG,
    NOISE,
    OTHER_FRAME,
    REPEAT,
    SETTLED,
    SUMMARY,
    USER_FRAME,
    Grade,
    Pieces,
)
from refold.scan.patterns import TRACEBACK

_TO_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_JSON_LINES: Final = "JSON lines "
"""How `refold.codecs` marks records that stood on lines of their own."""
_UTF_8: Final = ("utf-8", "surrogatepass")
_TRACE_LINES: Final = 40
"""A trace is followed for this many lines."""
_BEFORE: Final = 160
"""Characters of a long line before a needle that are looked at."""
_DIGITS: Final = b"0123456789"
_PLACE: Final = attrgetter("place")
_REMINDER: Final = "<system-reminder>"
_REMINDER_END: Final = "</system-reminder>"
_SUCCESS: Final = re.compile(r"<(?:returncode|exit_code)>0</[^\n]*+\n(?:<(?:output|stdout)>\n)?")
ROWS: Final = "\nrows of "
ROWS_OF: Final = re.compile(rf"(?<=\n){ROWS[1:]}([^\n]*+)(?<=:)\n")
"""The names of the cells below."""
_REST: Final = ", the rest as above:"
_CELL: Final = re.compile(r'(?:"(?:[^"\\\n]++|\\.)*+"|[^|\n]*+)\|?')
_NO_TEXT: Final = re.compile(r"null|true|false|-?[0-9][0-9.eE+-]*+|\[\]|\{\}")


class ErrorSpan(NamedTuple):
    """A place that reports an error, the line around it, and how bad it is."""

    place: int
    start: int
    end: int
    grade: Grade


def split_source(text: str, marks: GradesByLine) -> Pieces:
    """Cut a text that may merely mention errors, by line; *marks* are known grades of lines."""
    return tile(text, marks, settle(text, find_in_source(text), marks))


def split_output(text: str, marks: GradesByLine) -> Pieces:
    """Cut the output of a program by line; *marks* are known grades of lines."""
    return tile(text, marks, settle(text, find_in_output(text), marks))


def settle(text: str, errors: Iterable[ErrorSpan], marks: GradesByLine) -> list[Spot]:
    """Add *errors* and the traces below them to *marks*; return those that lie in long lines.

    Lines that differ in nothing but numbers repeat each other: the first is a must, and counts.
    """
    mark_wrapping(text, marks)
    if text.startswith(("{", "[", _JSON_LINES)):
        errors = sorted((*errors, *_find_in_fields(text)), key=_PLACE)
    if ROWS in text:
        errors = sorted((*errors, *_find_in_rows(text)), key=_PLACE)
    spots: list[Spot] = []
    said: dict[bytes, list[int]] = {}
    """Messages without their numbers, and where each occurs, as `count_repeats` takes them."""
    seen: set[str] = set()
    followed = -1
    for place, start, end, grade in errors:
        is_long = end - start > LONG
        line = text[place : place + LONG] if is_long else text[start:end]
        lines = said.setdefault(_without_numbers(line, grade), [])
        if (lines and lines[-1] == start) or (spots and spots[-1][0] == place):
            continue  # two patterns found it
        known = marks.get(start)
        if known is not None and (known.must or known is REPEAT or known is SETTLED):
            if known is ERROR and lines:
                marks[start] = REPEAT
            seen.add(line.strip())
            lines.append(start)
            continue
        verdict = BAD_SUMMARY if known is SUMMARY else REPEAT if lines else grade
        seen.add(line.strip())
        if is_long:
            spots.append((place, verdict))
            lines.append(-len(spots))
        else:
            marks[start] = verdict
            lines.append(start)
        # All tracebacks start with the same words; what tells them apart stands below.
        if (verdict is ERROR or TRACEBACK in line) and end > followed:
            followed = follow_trace(text, start, end, marks, seen)
    count_repeats(said.values(), marks, spots)
    return spots


def follow_trace(text: str, start: int, end: int, marks: GradesByLine, seen: set[str]) -> int:
    """Grade the lines of the trace below the error line `text[start:end]`; return where it ends.

    *seen* holds the lines that are a must already; what repeats one is not a must again.
    """
    head = text[start:end]
    is_python = TRACEBACK in head
    is_rust = "' panicked at " in head and head.rstrip().endswith(":")
    is_go = head.startswith("goroutine ")
    indent = head[: len(head) - len(head.lstrip(" \t|+>"))]
    frame: Grade | None = None
    pos = end + 1
    for _ in range(_TRACE_LINES):
        if pos >= len(text):
            break
        stop = text.find("\n", pos)
        stop = len(text) if stop < 0 else stop
        line = text[pos : min(stop, pos + LONG)]
        deeper = line.startswith((indent + " ", indent + "\t"))
        if FRAME.match(line) and (deeper or not is_python):
            frame = OTHER_FRAME if LIBRARY.search(line) else USER_FRAME
            _mark_frame(line, pos, frame, marks, seen)
        elif is_python and deeper and frame is not None:
            _mark_frame(line, pos, frame, marks, seen)
        elif is_rust and pos == end + 1:  # what was wrong
            _mark_frame(line, pos, ERROR, marks, seen)
        elif is_rust and line.startswith("stack backtrace"):
            _mark_frame(line, pos, DETAIL, marks, seen)
        elif is_go and line:  # the name of a function, above the place
            _mark_frame(line, pos, OTHER_FRAME if LIBRARY.search(line) else USER_FRAME, marks, seen)
        elif is_python:
            if line.strip():
                _mark_frame(line, pos, ERROR, marks, seen)
            break
        elif not (deeper and frame is not None):
            break
        pos = stop + 1
    return pos


def _mark_frame(line: str, pos: int, grade: Grade, marks: GradesByLine, seen: set[str]) -> None:
    key = line.strip()
    if grade.must and key in seen:
        grade = REPEAT
    seen.add(key)
    known = marks.get(pos)
    if known is None or known.weight < FAILURE.weight:
        marks[pos] = grade


def _without_numbers(line: str, grade: Grade) -> bytes:
    """Return *line* without its times, ids and counts; of an exit only the number matters."""
    return line.strip().encode(*_UTF_8) if grade is EXIT else without_digits(line).strip()


def without_digits(text: str) -> bytes:
    """Return *text* without digits, for comparison; as a string it would take ten times as long."""
    return text.encode(*_UTF_8).translate(None, _DIGITS)


def count_repeats(said: Iterable[list[int]], marks: GradesByLine, spots: list[Spot]) -> None:
    """Set `times` of the first of each list of places that report the same.

    A place is the start of a line in *marks*, or the number of one of *spots*, from -1 down.
    """
    for lines in said:
        if len(lines) > 1:
            first = lines[0]
            if first < 0:
                place, grade = spots[-first - 1]
                spots[-first - 1] = place, _times(grade, len(lines))
            else:
                marks[first] = _times(marks[first], len(lines))


def _times(grade: Grade, count: int) -> Grade:
    return replace(grade, times=count) if grade.label in GRADES else grade


def find_in_source(text: str) -> Iterator[ErrorSpan]:
    """Yield the lines that start like an error, a warning or a bad exit."""
    return find_starts(IN_SOURCE, text)


def find_starts(pattern: re.Pattern[str], text: str) -> Iterator[ErrorSpan]:
    """Yield the lines that start as *pattern* says, which begins with the line break before.

    Its groups are named as in `GRADES`.
    """
    for found in pattern.finditer("\n" + text):
        start = found.start()
        end = text.find("\n", start)
        yield ErrorSpan(start, start, len(text) if end < 0 else end, GRADES[found.lastgroup or ""])


def _find_in_fields(text: str) -> Iterator[ErrorSpan]:
    """Yield the fields that report errors in JSON in the plain spelling."""
    start, end = 0, -1
    for found in PLAIN_FIELD.finditer(text):
        place = found.start() + 1
        if place > end:
            start = text.rfind("\n", max(end, 0), place) + 1 or start
            end = text.find("\n", place)
            end = len(text) if end < 0 else end
        yield ErrorSpan(place, start, end, GRADES[found.lastgroup or ""])


def find_in_output(text: str) -> Iterator[ErrorSpan]:
    """Yield the errors in a program's output: once a line, more often in a long one."""
    for place, start, end in _suspects(text):
        low = start if end - start <= LONG else max(start, place - _BEFORE)
        grade = judge_output(text[low : min(end, place + LONG)])
        if grade is not None:
            yield ErrorSpan(place, start, end, grade)


def _suspects(text: str) -> list[tuple[int, int, int]]:
    """Find the lines that hold a needle: place of the needle, start and end of its line."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when they become small
        lower = text.translate(_TO_LOWER)
    first = _find_first(lower)
    if first < 0:
        return []  # nearly every other text ends here
    found: dict[int, tuple[int, int, int]] = {}
    for needle in NEEDLES:
        start = end = first
        at = lower.find(needle, first)
        while at >= 0:
            if at >= end:
                start = text.rfind("\n", end, at) + 1 or start
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
            if end - start <= LONG:
                found.setdefault(start, (at, start, end))
                at = lower.find(needle, end)
            else:
                found.setdefault(at // LONG + len(text), (at, start, end))
                at = lower.find(needle, min(end, at + LONG))
    return sorted(found.values())


def _find_first(lower: str) -> int:
    """Return where the first line starts that may hold a needle; -1 if there is none."""
    if not lower.isascii() and any(map(lower.__contains__, FOREIGN_NEEDLES)):
        return 0
    found = ANY_NEEDLE.search(lower)
    return -1 if found is None else lower.rfind("\n", 0, found.start()) + 1


def mark_wrapping(text: str, marks: GradesByLine) -> None:
    """Grade the lines of *text* that an agent harness added."""
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


def _find_in_rows(text: str) -> Iterator[ErrorSpan]:
    """Yield the rows of like records, as `refold.codecs` writes them, that report errors.

    The names of the cells stand above the rows. Only cells whose name could report an error
    are looked at, each as if it stood beside its name: `status|took` and `failed|12` say
    `status=failed`.
    """
    heads = list(ROWS_OF.finditer(text))
    for head, below in zip_longest(heads, heads[1:]):
        stop = len(text) if below is None else below.start()
        names = head[1].removesuffix(_REST).removesuffix(":").split("|")
        telling = [name if MAY_TELL.fullmatch(name) else "" for name in names]
        start = head.end()
        while any(telling) and start < stop and text[start] != "]":
            end = text.find("\n", start, stop)
            end = stop if end < 0 else end
            for name, cell in zip(telling, _CELL.finditer(text, start, end), strict=False):
                grade = _judge(name, cell[0].removesuffix("|")) if name else None
                if grade is not None:
                    yield ErrorSpan(cell.start(), start, end, grade)
                    break
            start = end + 1


def _judge(name: str, cell: str) -> Grade | None:
    """Return the grade of a cell that reports an error; after a colon stands what is no text."""
    is_text = not cell.startswith(":") and not _NO_TEXT.fullmatch(cell)
    value = cell.strip('"') or cell if is_text else cell.removeprefix(":")
    found = PLAIN_FIELD.match(f" {name}{'=' if is_text else ':'}{value}")
    return None if found is None else GRADES[found.lastgroup or ""]
