"""Shorten the prose around fenced code; the code itself stays word for word, in its place."""

from __future__ import annotations

from collections.abc import Callable

from refold.model.depth import Depth
from refold.strategies.prose import char_budget, round_half_up
from refold.text.fences import split_fences

_MIN_BUDGET = 40
_MIN_PROSE = 60
"""Stretches shorter than this gain nothing from a tag around them."""

MakeTag = Callable[[str, int], str]
"""Makes the tagged summary of a stretch of prose, given a budget in characters."""


def shorten_around_code(text: str, depth: Depth, make_tag: MakeTag) -> str:
    """Replace each stretch of prose by a tagged summary where that is shorter.

    The budget is that of all prose together, shared out by length.
    """
    stretches = split_fences(text)
    total = sum(len(text[s.start : s.end].strip()) for s in stretches if not s.is_code)
    share = min(1.0, char_budget(total, depth) / max(total, 1))
    return "".join(
        text[s.start : s.end] if s.is_code else _shorten(text[s.start : s.end], share, make_tag)
        for s in stretches
    )


def _shorten(piece: str, share: float, make_tag: MakeTag) -> str:
    prose = piece.strip()
    if len(prose) < _MIN_PROSE:
        return piece
    stand_in = make_tag(prose, max(_MIN_BUDGET, round_half_up(len(prose) * share)))
    if len(stand_in) >= len(prose):
        return piece
    start = piece.find(prose)
    return piece[:start] + stand_in + piece[start + len(prose) :]
