"""Lines that were shown before in the same conversation: a mark says that they follow.

    def put(self, job: Job, priority: int) -> None:
    [31 lines follow as before]
    class Worker:

A file that is read again shows what is new in it, another window into it, or a file that was just
written. The line above such a mark stays; where it was shown first, the lines are found. Where
lines are numbered, the numbers are not part of the comparison; they count on:

    [lines 41–71 follow as before]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from refold.lazy import regex

_END: Final = " follow as before]"
_NUMBERED: Final = regex(r"(?=[ 0-9])( *+)(\d{1,7})(?:([→\t:|-])|$)")
_NUMBERED_BELOW: Final = regex(r"\n *+\d{1,7}(?:[→\t:|-]|\n|\Z)")
_ESCAPED: Final = regex(r"[\"\\\t]")
"""What JSON writes in another way."""
_NO_NUMBER: Final = -2
"""A number that no line follows."""
_MIN_CHARS: Final = 80
"""How many characters a mark must stand for to be worth it."""
_MIN_ANCHOR: Final = 10
"""Characters of a line that identifies a place."""


class _Lines(NamedTuple):
    """The lines of a text as they are compared."""

    whole: Sequence[str]
    bodies: Sequence[str]
    """What stands after the number of each; the line itself where it has none."""
    numbers: Mapping[int, int]
    """Place → number."""


class SeenLines:
    """All lines that a reader has seen so far in one conversation, in their order."""

    def __init__(self) -> None:
        self._lines: list[str | None] = []
        """With breaks where something was left out, and between texts."""
        self._first: dict[str, int] = {}

    def add(self, text: str, *, is_escaped: bool = False) -> None:
        """Note the lines of a text that the reader sees after all those before.

        If it *is escaped*, as in the arguments of a call, only lines that look the same there.
        """
        first, lines = self._first, self._lines
        start = len(lines)
        bodies = _parse(text).bodies
        if is_escaped:
            lines += [None if _ESCAPED.search(body) else body for body in bodies]
        elif _END in text:
            lines += [None if body.endswith(_END) else body for body in bodies]
        else:
            lines += bodies
        for place, body in enumerate(bodies, start):
            if len(body) >= _MIN_ANCHOR and lines[place] is not None:
                first.setdefault(body, place)
        lines.append(None)

    def shorten(self, text: str) -> str | None:
        """Leave out of *text* what was shown before; `None` if nothing was."""
        if len(text) < _MIN_CHARS or _END in text:
            return None
        first = self._first
        lines = _parse(text)
        if first.keys().isdisjoint(lines.bodies):
            return None
        whole = lines.whole
        out: list[str] = []
        start = 0
        for place, body in enumerate(lines.bodies):
            if place < start or body not in first:
                continue
            after = place + 1
            size = self._count_repeated(lines, after, first[body] + 1)
            if size and size + sum(map(len, whole[after : after + size])) >= _MIN_CHARS:
                out += whole[start:after]
                out.append(_mark(lines.numbers.get(place), size))
                start = after + size
        short = "\n".join([*out, *whole[start:]])
        return short if len(short) < len(text) else None

    def _count_repeated(self, lines: _Lines, start: int, place: int) -> int:
        """Count how many of *lines* from *start* on are those shown from *place* on."""
        bodies, numbers, seen = lines.bodies, lines.numbers, self._lines
        number = numbers.get(start - 1)
        most = min(len(bodies) - start, len(seen) - place)
        for size in range(most):
            if bodies[start + size] != seen[place + size]:
                return size
            if numbers.get(start + size) != (None if number is None else number + size + 1):
                return size
        return max(0, most)


def _parse(text: str) -> _Lines:
    """Take the numbers off all lines that count on from the line above, or to the line below."""
    lines = text.split("\n")
    if _NUMBERED_BELOW.search(text) is None:
        return _Lines(lines, lines, {})  # as most texts are
    bodies = lines.copy()
    numbers: dict[int, int] = {}
    before, start = _NO_NUMBER, 0  # the number of the line above, and where its rest starts
    for place, match in enumerate(map(_NUMBERED.match, lines)):
        if match is None:
            before = _NO_NUMBER
            continue
        number, end = int(match[2]), match.end()
        if number == before + 1:
            if place - 1 not in numbers:
                numbers[place - 1] = before
                bodies[place - 1] = bodies[place - 1][start:]
            numbers[place] = number
            bodies[place] = bodies[place][end:]
        before, start = number, end
    return _Lines(lines, bodies, numbers)


def _mark(number: int | None, size: int) -> str:
    if number is None:
        return f"[{size} {'lines' if size > 1 else 'line'}{_END}"
    numbers = f"lines {number + 1}–{number + size}" if size > 1 else f"line {number + 1}"
    return f"[{numbers}{_END}"
