"""Lines that repeat the line above, at other times or at once: counted, with the times.

2031-05-02 10:00:01 worker-3 waits for a free slot
[again ×2 at 10:00:02, 10:00:04]
.
[again ×40]

A date that is the same as above is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from refold.codecs.base import Codec, unreadable
from refold.rows import Needs, frame

_TIME: Final = re.compile(
    r"(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)"
    r"(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]|[A-Z][a-z]{2} [ \d]\d ")
_MAX_TIME: Final = 36
"""So many characters may stand at the beginning of a line up to the end of the time."""
_TIMED: Final = re.compile(rf"\n(?=[\[0-9JFMASOND])\[?{_TIME.pattern}")
_THRICE: Final = re.compile(r"\n([^\n]++)(?=\n\1\n\1\n)")
"""A line that is repeated often enough."""
_TIME_STARTS: Final = frozenset("[0123456789JFMASOND")
"""Digits and the first letters of months."""
_AGAIN: Final = re.compile(r"\[again ×(\d{1,2})(?: at (.+))?\]")
_MARK: Final = "[again ×"
_MIN_REPEATS: Final = 2
"""A line that comes again once costs hardly more than its mark."""
_MAX_COUNT: Final = 99
"""Longer runs are counted in several steps: small counts cannot be taken for values."""


def _encode(text: str) -> str | None:
    lines = text.split("\n")
    if not _THRICE.search(frame(text)) and not _may_repeat_at_times(lines):
        return None  # nearly every text ends here
    out: list[str] = []
    place = 0
    while place < len(lines):
        times, end = _repeats(lines, place)
        count = end - place - 1
        if count < _MIN_REPEATS or not lines[place].strip():
            out += lines[place:end]
        else:
            out.append(lines[place])
            out += _marks(count, times)
        place = end
    return "\n".join(out) if len(out) < len(lines) else None


def _may_repeat_at_times(lines: list[str]) -> bool:
    """Return whether a line ends as the one above does behind any time at its beginning."""
    return any(below.endswith(line[_MAX_TIME:]) for line, below in pairwise(lines))


def _marks(count: int, times: list[str]) -> Iterator[str]:
    """Yield the lines that stand for *count* repeats, at *times* if they have any."""
    for start in range(0, count, _MAX_COUNT):
        size = min(_MAX_COUNT, count - start)
        shown = ", ".join(times[start : start + size])
        yield f"{_MARK}{size} at {shown}]" if shown else f"{_MARK}{size}]"


def _repeats(lines: list[str], place: int) -> tuple[list[str], int]:
    """Return the times at which the line at *place* is repeated, and the place after the run."""
    line = lines[place]
    end = place + 1
    while end < len(lines) and lines[end] == line:
        end += 1
    if end > place + 1:
        return [], end
    time = _time_of(line)
    if time is None:
        return [], end
    before, after, date = line[: time.start()], line[time.end() :], _date_of(time[0])
    times: list[str] = []
    while end < len(lines) and lines[end].startswith(before) and lines[end].endswith(after):
        other = _time_of(lines[end])
        if other is None or lines[end] != before + other[0] + after:
            break
        times.append(other[0].removeprefix(date))
        end += 1
    return times, end


def _time_of(line: str) -> re.Match[str] | None:
    """Return the time with which *line* starts, after an opening bracket or nothing."""
    if line[:1] not in _TIME_STARTS:
        return None
    return _TIME.match(line, 1 if line[0] == "[" else 0)


def _date_of(time: str) -> str:
    """Return the date with which *time* starts, if it has one, and what parts them."""
    date = _DATE.match(time)
    return date[0] if date else ""


def _decode(text: str) -> str:
    out: list[str] = []
    last = ""
    for line in text.split("\n"):
        again = _AGAIN.fullmatch(line) if line.startswith(_MARK) else None
        if not again:
            out.append(line)
            last = line
            continue
        count = int(again[1])
        if again[2] is None:
            out += [last] * count
            continue
        time = _time_of(last)
        times = again[2].split(", ")
        date = _date_of(time[0]) if time else ""
        if time is None or len(times) != count:
            raise unreadable(CODEC.name, line)
        times = [other if _DATE.match(other) else date + other for other in times]
        out += [last[: time.start()] + other + last[time.end() :] for other in times]
    return "\n".join(out)


CODEC: Final = Codec(
    name="repeats",
    encode=_encode,
    decode=_decode,
    needs=Needs((_THRICE, _TIMED), lacks=(_MARK,), line_breaks=_MIN_REPEATS + 1),
)
