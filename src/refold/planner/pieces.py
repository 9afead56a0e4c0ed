"""Cut a text into the pieces that are shown or left out as one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from refold.kinds import Piece, split

_GLUE: Final = 140
"""Neighbours share a piece up to this many characters: a value needs its surroundings."""
_CLAUSE: Final = re.compile(
    r"(?:[^\n.!?,;:。！？，；、]|[.,:](?=\d))*+"  # not in 4.5 or 10:30
    r"[\n.!?,;:。！？，；、]*+\s*+"
)
_MIN_CLAUSE: Final = 30
_MIN_DENSE_CLAUSE: Final = 12
"""The same in Chinese, Japanese and Korean, where a character says as much as a syllable."""
_DENSE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def cut_text(text: str, kind: str, *, talk: bool) -> Iterator[Piece]:
    """Cut *text* by its kind, or into clauses if it is plain *talk*."""
    return _clauses(text) if talk else _glue(split(text, kind))


def _clauses(text: str) -> Iterator[Piece]:
    start, least = 0, _MIN_DENSE_CLAUSE if _is_dense(text) else _MIN_CLAUSE
    for found in _CLAUSE.finditer(text):
        if found.end() - start >= least or found.end() == len(text):
            if found.end() > start:
                yield Piece(start, found.end())
            start = found.end()


def _is_dense(text: str) -> bool:
    return not text.isascii() and 3 * len(_DENSE.findall(text)) > len(text)


def _glue(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Join short neighbours of the same worth."""
    held: Piece | None = None
    for piece in pieces:
        if held is None:
            held = piece
        elif (
            piece.end - held.start <= _GLUE
            and piece.weight == held.weight
            and piece.must == held.must
        ):
            held = Piece(held.start, piece.end, held.weight, held.must, held.label)
        else:
            yield held
            held = piece
    if held is not None:
        yield held
