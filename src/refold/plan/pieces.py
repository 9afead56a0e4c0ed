"""Pieces of a text, which are shown or left out as a whole: cut them, join them with gap marks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from refold.kinds import PLAIN, TABLE, Grade, KindTable, Pieces, tile
from refold.notation.marks import GAP, gap, said_times, size_of
from refold.scan.patterns import HAN, HANGUL, KANA
from refold.scan.runs import Span

CALL: Final = Grade("call", 1.5, leads=True)
CHANGE: Final = Grade("change", 2.0, leads=True)
"""Grades of the line that names a tool and what the call was about: any call, and one that may have
changed something."""
_CLAUSE: Final = re.compile(
    r"(?:[^\n.!?,;:。！？，；、]|[.,:](?=\d))*+"  # not in 4.5 or 10:30
    r"[\n.!?,;:。！？，；、]*+\s*+"
)
_MIN_CLAUSE: Final = 20
"""Characters of a clause: a shorter one, such as "However,", says nothing alone. On 39 recorded
meetings, a tenth of the tokens holds .72 of the answers; with 30 characters .69; with 10, in
crumbs, .74."""
_MIN_DENSE_CLAUSE: Final = 12
"""The same in Chinese, Japanese and Korean, where a character is about a syllable."""
_DENSE: Final = re.compile(f"[{KANA}{HAN}{HANGUL}]")

_MUST_GLUE: Final = 140
"""Required pieces are kept small, so that the most severe line fits where there is little room."""
IDEOGRAPHS: Final = "\u2e80"
"""The first character of the East Asian scripts, which have no spaces between words."""
_MANY_LINES: Final = 6
_MANY_CHARS: Final = 2_000
"""Larger gaps say their size, which takes about four tokens more than a bare mark. On 32 recorded
runs at 50, 30 and 15 % of the tokens all gaps take 1.3, 1.3 and .8 % of a view; they would take .7,
.8 and .6 % if only those of ten lines did."""
ONCE: Final[Mapping[int, int]] = MappingProxyType({})


def cut_text(
    text: str,
    kind: str,
    *,
    talk: bool,
    glue: int,
    heads: Iterable[tuple[int, bool]] = (),
    kinds: KindTable = TABLE,
) -> Pieces:
    """Cut *text* by its kind, or into clauses if it is plain *talk*.

    Neighbors share a piece up to *glue* characters: a value needs its context. Calls are cut into
    lines, and their first lines, at the *heads*, are pieces of their own.
    """
    if talk:
        return _clauses(text)
    marks = {start: CHANGE if changes else CALL for start, changes in heads}
    return _glue(tile(text, marks) if marks else kinds.split(text, kind), glue)


def _clauses(text: str) -> Pieces:
    ends: list[int] = []
    start, least = 0, _MIN_DENSE_CLAUSE if _is_dense(text) else _MIN_CLAUSE
    for found in _CLAUSE.finditer(text):
        end = found.end()
        if end > start and (end - start >= least or end == len(text)):
            ends.append(end)
            start = end
    return Pieces(ends, [PLAIN] * len(ends))


def _is_dense(text: str) -> bool:
    return not text.isascii() and 3 * len(_DENSE.findall(text)) > len(text)


def _glue(pieces: Pieces, most: int) -> Pieces:
    """Join short neighbors of the same weight, up to *most* characters, under the first grade."""
    glued = Pieces([], [])
    start = last = 0
    held: Grade | None = None
    for end, grade in zip(*pieces, strict=True):
        if held is None:
            held = grade
        elif end - start > (min(most, _MUST_GLUE) if held.must else most) or not held.may_go_on(
            grade
        ):
            glued.add(last, held)
            start, held = last, grade
        last = end
    if held is not None:
        glued.add(last, held)
    return glued


def join_spans(
    text: str, spans: Iterable[Span], times: Mapping[int, int] = ONCE, *, in_place: bool = False
) -> str:
    """Join the *spans* of *text*, which come in order, with a mark where something is left out.

    A small gap is marked at the end of the line above it; a large one has a line of its own, such
    as `… 41 lines …`. What is left out before the first span and after the last one is marked only
    if the text stands *in_place*. *times* has how often spans that end there were repeated.
    """
    shown: list[str] = []
    end = 0
    for start, stop in spans:
        if start > end and (shown or in_place):
            _mark_gap(shown, _size(text, end, start))
        if stop in times:
            shown.append(f"{text[start:stop].rstrip()}{said_times(times[stop])}\n")
        else:
            shown.append(text[start:stop])
        end = stop
    size = _size(text, end, len(text)) if in_place and shown else ""
    if size:
        _mark_gap(shown, size)
    elif shown and _goes_on(text, end):
        shown.append(GAP)
    return "".join(shown).rstrip()


def _mark_gap(shown: list[str], size: str) -> None:
    """Mark a gap of this *size*; a small one, "", needs no mark before the first span."""
    if shown:
        shown[-1] = shown[-1].rstrip()
    if size:
        shown.append(f"\n{gap(size)}\n" if shown else f"{gap(size)}\n")
    elif shown:
        shown.append(f"{GAP}\n" if shown[-1][-1:] >= IDEOGRAPHS else f" {GAP}\n")


def _size(text: str, start: int, end: int) -> str:
    """Return the size of the gap `text[start:end]` in words; "" if it is small."""
    return size_of(text, start, end, least_lines=_MANY_LINES, least_chars=_MANY_CHARS)


def _goes_on(text: str, end: int) -> bool:
    """Tell whether a phrase continues after *end*, with only a space between its words."""
    before, after = text[max(0, end - 2) : end].rstrip(" "), text[end : end + 2].lstrip(" ")
    return before[-1:].isalnum() and after[:1].isalnum()
