"""Cut a text into the pieces that are shown or left out as one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from refold.kinds import PLAIN, Grade, Pieces, split, tile

CALL: Final = Grade("call", 1.5, leads=True)
CHANGE: Final = Grade("change", 2.0, leads=True)
"""The line that names the tool and what it was about; a change leaves at least that line."""
_CLAUSE: Final = re.compile(
    r"(?:[^\n.!?,;:。！？，；、]|[.,:](?=\d))*+"  # not in 4.5 or 10:30
    r"[\n.!?,;:。！？，；、]*+\s*+"
)
_MIN_CLAUSE: Final = 30
_MIN_DENSE_CLAUSE: Final = 12
"""The same in Chinese, Japanese and Korean, where a character says as much as a syllable."""
_DENSE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

_MUST_GLUE: Final = 140
"""What must be shown is cut small: where there is little room, its gravest line still fits."""


def cut_text(
    text: str, kind: str, *, talk: bool, glue: int, heads: Iterable[tuple[int, bool]] = ()
) -> Pieces:
    """Cut *text* by its kind, or into clauses if it is plain *talk*.

    Neighbours share a piece up to *glue* characters: a value needs its surroundings. Calls are cut
    into lines; their *heads* stand alone.
    """
    if talk:
        return _clauses(text)
    marks = {start: CHANGE if changes else CALL for start, changes in heads}
    return _glue(tile(text, marks) if marks else split(text, kind), glue)


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
    """Join short neighbours of the same worth; they are graded as the first of them."""
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
