"""Lines that a reader has seen, in their order: where each was first, and what stood below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

_MIN_ANCHOR: Final = 10
"""Shorter lines do not identify a place."""


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
