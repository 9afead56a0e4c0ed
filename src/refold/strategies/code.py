"""Shorten the prose around fenced code; the code itself stays word for word, in its place."""

from __future__ import annotations

from collections.abc import Callable

from refold.model.depth import Depth
from refold.strategies.prose import char_budget, round_half_up, summarize_prose
from refold.text.fences import split_fences

_MIN_BUDGET = 40


def summarize_around_code(text: str, depth: Depth, make_tag: Callable[[str], str]) -> str:
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


def _shorten(piece: str, share: float, make_tag: Callable[[str], str]) -> str:
    body = piece.strip()
    if not body:
        return piece
    budget = max(_MIN_BUDGET, round_half_up(len(body) * share))
    stand_in = make_tag(summarize_prose(body, budget))
    if len(stand_in) >= len(body):
        return piece
    start = piece.find(body)
    return piece[:start] + stand_in + piece[start + len(body) :]
