"""Stretches of lines that are repeated in the same text: a mark says that they follow.

    Traceback (most recent call last):
    [9 lines follow as below the same line above]
    KeyError: 'retries'

The line above such a mark stays; where it stands first in the text, the lines are found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from refold.codecs.base import Codec, read_count, spell_count, unreadable
from refold.rows import Needs

_END: Final = " follow as below the same line above]"
_MARK: Final = re.compile(r"\[(\d\d?(?:\+99)*) lines" + re.escape(_END))
_MIN_LINES: Final = 2
"""Repeated single lines are left to `repeats`."""
_MIN_CHARS: Final = 160
"""How many characters a mark must stand for to be worth it."""
_MIN_ANCHOR: Final = 10
"""Shorter lines do not identify a place."""
_MIN_TEXT: Final = 2 * _MIN_CHARS
"""A shorter text cannot contain a stretch twice that is worth a mark."""


class LineIndex:
    """Lines in the order in which they were seen, with breaks where some were left out."""

    __slots__ = ("_first", "_lines")

    def __init__(self) -> None:
        self._lines: list[str | None] = []
        self._first: dict[str, int] = {}

    def note(self, line: str) -> None:
        """Note a line that the reader sees next."""
        if len(line) >= _MIN_ANCHOR and line not in self._first:
            self._first[line] = len(self._lines)
        self._lines.append(line)

    def note_all(self, lines: Sequence[str]) -> None:
        """Note the lines that the reader sees next."""
        first, start = self._first, len(self._lines)
        self._lines += lines
        for place, line in enumerate(lines, start):
            if len(line) >= _MIN_ANCHOR:
                first.setdefault(line, place)

    def break_off(self) -> None:
        """Note that what comes next does not follow what came before."""
        self._lines.append(None)

    def knows_any(self, lines: Iterable[str]) -> bool:
        """Return whether one of *lines* that identify a place was seen."""
        return not self._first.keys().isdisjoint(lines)

    def place_below(self, line: str) -> int | None:
        """Return the place below the first such line; `None` if no such line was seen."""
        place = self._first.get(line)
        return None if place is None else place + 1

    def places_below(self, lines: Iterable[str]) -> list[tuple[int, int]]:
        """Return which of *lines* were seen, and for each the place below the first such line."""
        first = self._first
        return [(number, first[line] + 1) for number, line in enumerate(lines) if line in first]

    def at(self, place: int) -> str | None:
        """Return the line at *place*; `None` if none was seen there."""
        return self._lines[place] if place < len(self._lines) else None

    def stretch(self, place: int, size: int) -> list[str] | None:
        """Return *size* lines from *place* on; `None` if so many were not seen in a row there."""
        lines = [line for line in self._lines[place : place + size] if line is not None]
        return lines if len(lines) == size else None

    def count_equal(self, lines: Sequence[str], start: int, place: int) -> int:
        """Count how many of *lines* from *start* on are those seen from *place* on."""
        seen = self._lines
        limit = min(len(lines) - start, len(seen) - place)
        count = 0
        while count < limit and lines[start + count] == seen[place + count]:
            count += 1
        return count


def _encode(text: str) -> str | None:
    lines = text.split("\n")
    if not _has_stretch_twice(lines):
        return None  # nearly every text ends here
    index = LineIndex()
    out: list[str] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        out.append(line)
        place += 1
        below = index.place_below(line)
        count = 0 if below is None else index.count_equal(lines, place, below)
        index.note(line)
        chars = count + sum(map(len, lines[place : place + count]))
        if count >= _MIN_LINES and chars >= _MIN_CHARS:
            out.append(f"[{spell_count(count)} lines{_END}")
            index.break_off()
            place += count
    return "\n".join(out) if len(out) < len(lines) else None


def _has_stretch_twice(lines: list[str]) -> bool:
    """Return whether a line that identifies a place is repeated with the lines below it."""
    anchors = [line for line in lines if len(line) >= _MIN_ANCHOR]
    if len(set(anchors)) == len(anchors):
        return False
    first: dict[str, int] = {}
    for place, line in enumerate(lines, 1):
        below = first.setdefault(line, place)
        if below != place and len(line) >= _MIN_ANCHOR:
            stretch = lines[place : place + _MIN_LINES]
            if lines[below : below + _MIN_LINES] == stretch:
                return True
    return False


def _decode(text: str) -> str:
    index = LineIndex()
    out: list[str] = []
    for line in text.split("\n"):
        mark = _MARK.fullmatch(line) if line.endswith(_END) else None
        if mark is None:
            out.append(line)
            index.note(line)
            continue
        below = index.place_below(out[-1]) if out else None
        if below is None:
            raise unreadable(CODEC.name, line)
        stretch = index.stretch(below, read_count(mark[1]))
        if stretch is None:
            raise unreadable(CODEC.name, line)
        out += stretch
        index.break_off()
    return "\n".join(out)


CODEC: Final = Codec(
    name="blocks",
    encode=_encode,
    decode=_decode,
    needs=Needs(lacks=(_END,), chars=_MIN_TEXT, line_breaks=2 * _MIN_LINES + 1),
    reads_in_parts=False,
)
