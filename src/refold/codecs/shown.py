"""Lines that were shown before in the same conversation: a mark says that they follow.

    def put(self, job: Job, priority: int) -> None:
    [31 lines follow as below the same line in an earlier message]
    class Worker:

Another window into a file, a file that was just written, an order that comes back with another
state. The line above such a mark stays; where it was shown first, the lines are found. Where lines
are numbered, the numbers are no part of the comparison; they count on:

    [lines 41–71 follow as below the same line in an earlier message]
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Final, NamedTuple

from refold.codecs.base import read_count, spell_count, unreadable
from refold.codecs.line_index import LineIndex

_END: Final = " follow as below the same line in an earlier message]"
_MARK: Final = re.compile(
    r"\[(?<![^\n]\[)(?:(\d\d?(?:\+99)*) lines?|lines? (\d{1,7})(?:–(\d{1,7}))?)"
    rf"{re.escape(_END)}(?![^\n])"
)
_NUMBERED: Final = re.compile(r"(?=[ 0-9])( *+)(\d{1,7})(?:([→\t:|-])|$)")
_NUMBERED_BELOW: Final = re.compile(r"\n *+\d{1,7}(?:[→\t:|-]|\n|\Z)")
_STARTS: Final = frozenset(" 0123456789")
_NO_NUMBER: Final = -2
"""A number that no line follows."""
_NO_NUMBERS: Final[Mapping[int, int]] = MappingProxyType({})
_MIN_CHARS: Final = 120
"""How many characters a mark must stand for to be worth it."""


class _Lines(NamedTuple):
    """The lines of a text as they are compared."""

    whole: Sequence[str]
    bodies: Sequence[str]
    """What stands behind the number of each; the line itself where it has none."""
    numbers: Mapping[int, int] = _NO_NUMBERS
    """Place → number."""


class Shown:
    """All lines that a reader has seen so far in one conversation."""

    __slots__ = ("_index", "_latest")

    def __init__(self) -> None:
        self._index = LineIndex()
        self._latest = ("", _Lines([""], [""]))
        """What was read last is mostly shown next, as it is or below a mark, with or without what
        was left out: it need not be read again."""

    def add(self, text: str) -> None:
        """Note the lines of a text that the reader sees after all those before."""
        lines = self._read(text)
        if _END not in text:
            self._index.note_all(lines.bodies)
        else:
            for line, body in zip(lines.whole, lines.bodies, strict=True):
                if line.endswith(_END):
                    self._index.break_off()
                else:
                    self._index.note(body)
        self._index.break_off()

    def shorten(self, text: str) -> str | None:
        """Leave out of *text* what was shown before; `None` if nothing was."""
        if len(text) < _MIN_CHARS or _END in text:
            return None
        lines = self._read(text)
        if not self._index.knows_any(lines.bodies):
            return None
        out, stretches = self._leave_out(lines)
        short = "\n".join(out)
        if len(short) >= len(text) or self.expand(short) != text:
            return None
        self._latest = (short, _between_marks(lines, stretches, out))
        return short

    def _leave_out(self, lines: _Lines) -> tuple[list[str], list[range]]:
        """Return *lines* with marks for those that were shown, and where the others stand."""
        whole, index = lines.whole, self._index
        out: list[str] = []
        stretches: list[range] = []
        start = 0
        for place, below in index.places_below(lines.bodies):
            after = place + 1
            size = self._count_shown(lines, after, below) if place >= start else 0
            if size and size + sum(map(len, whole[after : after + size])) >= _MIN_CHARS:
                out += whole[start:after]
                out.append(_mark(lines.numbers.get(place), size))
                stretches.append(range(start, after))
                start = after + size
        return [*out, *whole[start:]], [*stretches, range(start, len(whole))]

    def _read(self, text: str) -> _Lines:
        known, lines = self._latest
        if text != known:
            mark = text[: -len(known)] if known and text.endswith(known) else ""
            is_line = mark.find("\n") == len(mark) - 1 >= 0 and mark[0] not in _STARTS
            self._latest = (text, _below_mark(mark[:-1], lines) if is_line else _parse(text))
        return self._latest[1]

    def _count_shown(self, lines: _Lines, start: int, place: int) -> int:
        """Count how many of *lines* from *start* on are those shown from *place* on."""
        whole = lines.whole
        if start - 1 not in lines.numbers:
            return self._index.count_equal(whole, start, place)
        numbers = _Numbers(whole[start - 1])
        for size in range(len(whole) - start):
            body = self._index.at(place + size)
            if body is None or whole[start + size] != numbers.next(body):
                return size
        return len(whole) - start

    def expand(self, short: str) -> str:
        """Give the text back that was shortened when the same lines had been shown.

        Raises `FormatError` if they had not.
        """
        pieces: list[str] = []
        done = 0
        for mark in _MARK.finditer(short):
            before = short[done : mark.start()]
            if before == "\n" and pieces:  # it is right below what another mark stands for
                above = pieces[-1].rpartition("\n")[2]
            else:
                above = before[:-1].rpartition("\n")[2]
            pieces += (before, "\n".join(self._below(above, mark)))
            done = mark.end()
        return "".join(pieces) + short[done:]

    def _below(self, line: str, mark: re.Match[str]) -> list[str]:
        """Return the lines that *mark*, below *line*, stands for."""
        counted, first, last = mark.groups()
        numbers = None if counted else _Numbers(line)
        size = read_count(counted) if counted else int(last or first) - int(first) + 1
        place = self._index.place_below(numbers.body if numbers else line)
        bodies = self._index.stretch(place, size) if place is not None else None
        if not bodies:
            raise unreadable("shown", mark[0])
        return list(map(numbers.next, bodies)) if numbers else bodies


class _Numbers:
    """How the numbers before lines are written, and which comes next."""

    __slots__ = ("_numbers", "_separator", "_width", "body")

    def __init__(self, line: str) -> None:
        found = _NUMBERED.match(line)
        if found is None:
            raise unreadable("shown", line)
        self._numbers = count(int(found[2]) + 1)
        self._separator = found[3] or ""
        self._width = len(found[1]) + len(found[2])
        self.body = line[found.end() :]

    def next(self, body: str) -> str:
        """Put the next number before *body*; an empty line ends with its number."""
        number = f"{next(self._numbers):>{self._width}}{self._separator}"
        return number + body if body else number.rstrip()


def _parse(text: str) -> _Lines:
    """Take the numbers off all lines that count on from the line above, or to the line below."""
    lines = text.split("\n")
    if _NUMBERED_BELOW.search(text) is None and _NUMBERED.match(lines[0]) is None:
        return _Lines(lines, lines)  # as most texts are
    bodies = lines.copy()
    numbers: dict[int, int] = {}
    before, start = _NO_NUMBER, 0  # the number of the line above, and where its rest starts
    for place, found in enumerate(map(_NUMBERED.match, lines)):
        if found is None:
            before = _NO_NUMBER
            continue
        number, end = int(found[2]), found.end()
        if number == before + 1:
            if place - 1 not in numbers:
                numbers[place - 1] = before
                bodies[place - 1] = bodies[place - 1][start:]
            numbers[place] = number
            bodies[place] = bodies[place][end:]
        before, start = number, end
    return _Lines(lines, bodies, numbers)


def _between_marks(lines: _Lines, stretches: Sequence[range], out: Sequence[str]) -> _Lines:
    """Return what is left of *lines*, which are the *stretches* between the marks in *out*."""
    bodies: list[str] = []
    numbers: dict[int, int] = {}
    for stretch in stretches:
        start = len(bodies)
        bodies += lines.bodies[stretch.start : stretch.stop]
        own = list(map(lines.numbers.get, stretch))
        numbers |= {place: number for place, number in enumerate(own, start) if number is not None}
        for edge in {0, len(own) - 1} if own else ():
            number = own[edge]
            around = own[max(0, edge - 1) : edge + 2]
            if number is not None and number - 1 not in around and number + 1 not in around:
                bodies[start + edge] = lines.whole[stretch[edge]]  # it counts on no more
                del numbers[start + edge]
        bodies += out[len(bodies) : len(bodies) + 1]
    return _Lines(out, bodies, numbers)


def _below_mark(mark: str, lines: _Lines) -> _Lines:
    """Put a line that has no number before *lines*."""
    numbers = {place + 1: number for place, number in lines.numbers.items()}
    return _Lines([mark, *lines.whole], [mark, *lines.bodies], numbers)


def _mark(number: int | None, size: int) -> str:
    lines = "lines" if size > 1 else "line"
    if number is None:
        return f"[{spell_count(size)} {lines}{_END}"
    rest = f"–{number + size}" if size > 1 else ""
    return f"[{lines} {number + 1}{rest}{_END}"
