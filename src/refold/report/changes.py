"""The diff of a text and its stand-in: matched in order, in linear time."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby, repeat, starmap, zip_longest
from typing import Final, NamedTuple

from refold.notation.marks import is_gap
from refold.notation.recognize import mark_of
from refold.report.pieces import find_runs, run_words
from refold.report.story import Row
from refold.result import Piece

_LINE: Final = re.compile(r"[^\n]*+\n|[^\n]++")
_UNIT: Final = re.compile(r"[^\n.!?…]*+(?:[.!?…]++(?![\s…])[^\n.!?…]*+)*+(?:[.!?…]++[ \t]*+|\n|\Z)")
"""A line, or a sentence of it; summaries keep whole sentences of long lines."""
_TRIMMED: Final = " \t\r\n.…"
_SHORT_CHARS: Final = 8
"""Shorter lines, such as a bracket, are everywhere: they match only right after another match."""
_LONG_CHARS: Final = 80
"""Lines of code are shorter, mostly; paragraphs are longer."""
NOTATION: Final = "notation"
_SAME_DATA: Final = frozenset({"preserved", "recoded"})
"""Actions that leave nothing out."""


class Span(NamedTuple):
    """A stretch of a text that its fold keeps or drops, and why if that is known."""

    text: str
    is_kept: bool
    reason: str = ""


class Pair(NamedTuple):
    """A line before and the line after that stands beside it; `None` where there is none."""

    before: str | None
    after: str | None

    @property
    def is_same(self) -> bool:
        """Whether the line is there on both sides."""
        if self.before is None or self.after is None:
            return False
        return self.before.strip(_TRIMMED) == self.after.strip(_TRIMMED)


def mark_before(row: Row) -> list[Span]:
    """Cut the original text of *row* into what is kept and what is dropped.

    A text may be respelled before it is cut. If its lines are still those of the original, they
    are marked there; else the respelled form is cut here, because it shows what is missing.
    """
    if row.action in _SAME_DATA or row.before == row.after:
        return [Span(row.before, True)] if row.before else []
    pieces = _pieces_of(row)
    if not pieces:
        return _join(*_mark(row.before, row.after))
    cut = "".join(piece.text for piece in pieces)
    if cut != row.before and cut.count("\n") == row.before.count("\n"):
        return _mark_lines(row.before, pieces)
    return [
        Span("".join(piece.text for piece in run), run[0].is_kept, run_words(run))
        for run in find_runs(pieces)
    ]


def _pieces_of(row: Row) -> list[Piece]:
    """Return the pieces of this text; a digest has those of all texts and calls of its message."""
    return [piece for piece in row.pieces if piece.part == row.part]


def _mark_lines(text: str, pieces: Sequence[Piece]) -> list[Span]:
    """Mark the lines of *text* as the *pieces* of another form of it say; what is kept wins."""
    why: dict[int, tuple[bool, str]] = {}
    for run in find_runs(pieces):
        verdict = (run[0].is_kept, run_words(run))
        for line in range(run[0].first_line, run[-1].last_line + 1):
            why[line] = max(verdict, why.get(line, verdict), key=lambda marks: marks[0])
    lines = _LINE.findall(text)
    marks = [why.get(number, (False, "")) for number in range(1, len(lines) + 1)]
    return _join(lines, [is_kept for is_kept, _ in marks], [reason for _, reason in marks])


def mark_after(row: Row) -> list[Span]:
    """Cut the folded text of *row* into what stands in the original word for word, and the rest.

    Where the original was respelled before it was cut, the words are those of that form. The
    reason of the marks and gaps that stand in for what is left out is `NOTATION`.
    """
    if row.before == row.after:
        return [Span(row.after, True)] if row.after else []
    mark = mark_of(row.after)
    head = [Span(mark, False, NOTATION)] if mark else []
    source = "".join(piece.text for piece in _pieces_of(row)) or row.before
    units, kept = _mark(row.after[len(mark) :], source)
    reasons = [NOTATION if is_gap(unit.rstrip("\n")) else "" for unit in units]
    kept = [is_kept and not reason for is_kept, reason in zip(kept, reasons, strict=True)]
    return [*head, *_join(units, kept, reasons)]


def pair_lines(before: str, after: str) -> Iterator[Pair]:
    """Put the lines of two texts side by side; between lines that match, what differs.

    A long line is several, one per sentence: of a paragraph often only a sentence is kept.
    """
    left, right = _split_lines(before), _split_lines(after)
    place = done = 0
    for number, there in enumerate(_match(left, right)):
        if there is None:
            continue
        yield from starmap(Pair, zip_longest(left[place:there], right[done:number]))
        yield Pair(left[there], right[number])
        place, done = there + 1, number + 1
    yield from starmap(Pair, zip_longest(left[place:], right[done:]))


def _split_lines(text: str) -> list[str]:
    lines: list[str] = []
    for line in text.splitlines():
        lines += [line] if len(line) < _LONG_CHARS else map(str.rstrip, _split(line))
    return lines


def _mark(text: str, other: str) -> tuple[list[str], list[bool]]:
    """Return the units of *text*, and of each whether *other* has it, too."""
    units, others = _split(text), _split(other)
    kept = [False] * len(units)
    for there in _match(units, others):
        if there is not None:
            kept[there] = True
    for place, unit in enumerate(units):  # blanks belong to what stands before them
        if not unit.strip(_TRIMMED):
            kept[place] = place > 0 and kept[place - 1]
    return units, kept


def _split(text: str) -> list[str]:
    """Cut *text* into sentences and lines; a line for what is left out stays in one."""
    units: list[str] = []
    for line in _LINE.findall(text):
        units += [line] if is_gap(line.rstrip("\n")) else filter(None, _UNIT.findall(line))
    return units


def _join(units: Sequence[str], kept: Sequence[bool], reasons: Sequence[str] = ()) -> list[Span]:
    """Join neighbours that were kept, or dropped, for the same reason."""
    spans = map(Span, units, kept, reasons or repeat(""))
    return [
        Span("".join(span.text for span in run), *alike)
        for alike, run in groupby(spans, key=lambda span: span[1:])
    ]


def _match(before: Sequence[str], after: Sequence[str]) -> Iterator[int | None]:
    """Yield for each text of *after* where it stands in *before*, always further on."""
    places: dict[str, list[int]] = {}
    for place, text in enumerate(before):
        places.setdefault(text.strip(_TRIMMED), []).append(place)
    last = -1
    for text in after:
        key = text.strip(_TRIMMED)
        there = places.get(key, ()) if key else ()
        following = bisect_right(there, last)
        is_there = following < len(there)
        if is_there and (len(key) >= _SHORT_CHARS or there[following] == last + 1):
            last = there[following]
            yield last
        else:
            yield None
