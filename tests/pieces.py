"""Pieces one by one, as tests look at them."""

from __future__ import annotations

from typing import NamedTuple

from refold.kinds import Pieces, split


class Piece(NamedTuple):
    """A stretch of a text, and its grade."""

    start: int
    end: int
    weight: float
    must: bool
    label: str


def listed(pieces: Pieces) -> list[Piece]:
    """List *pieces*; each begins where the one before it ends."""
    starts = [0, *pieces.ends][: len(pieces.ends)]
    return [
        Piece(start, end, grade.weight, grade.must, grade.label)
        for start, end, grade in zip(starts, pieces.ends, pieces.grades, strict=True)
    ]


def pieces_of(text: str, kind: str) -> list[Piece]:
    """List the pieces of *text*."""
    return listed(split(text, kind))
