"""The lines that a reader has seen so far: where each stood first, and what followed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

MIN_ANCHOR: Final = 10
"""A line shorter than this does not say where it stands."""
_MAX_COUNT: Final = 99
"""The most that one number says: see `spell_count`."""


class LineIndex:
    """Lines in the order in which they were seen, with breaks where some were left out."""

    __slots__ = ("_first", "_lines")

    def __init__(self) -> None:
        self._lines: list[str | None] = []
        self._first: dict[str, int] = {}

    def note(self, line: str) -> None:
        """Note a line that the reader sees next."""
        if len(line) >= MIN_ANCHOR and line not in self._first:
            self._first[line] = len(self._lines)
        self._lines.append(line)

    def note_all(self, lines: Sequence[str]) -> None:
        """Note the lines that the reader sees next."""
        first, start = self._first, len(self._lines)
        self._lines += lines
        for place, line in enumerate(lines, start):
            if len(line) >= MIN_ANCHOR:
                first.setdefault(line, place)

    def break_off(self) -> None:
        """Note that what comes next does not follow what came before."""
        self._lines.append(None)

    def knows_any(self, lines: Iterable[str]) -> bool:
        """Return whether one of *lines* was seen that says where it stands."""
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

    def count_equal(self, lines: Sequence[str], start: int, place: int) -> int:
        """Count how many of *lines* from *start* on are those seen from *place* on."""
        seen = self._lines
        limit = min(len(lines) - start, len(seen) - place)
        count = 0
        while count < limit and lines[start + count] == seen[place + count]:
            count += 1
        return count


def spell_count(count: int) -> str:
    """Spell how many lines; a sum where one number of three digits would look like a value."""
    full, part = divmod(count, _MAX_COUNT)
    return "+".join([str(part)] * (part > 0) + [str(_MAX_COUNT)] * full)


def read_count(spelling: str) -> int:
    """Read what `spell_count` wrote."""
    return sum(map(int, spelling.split("+")))
