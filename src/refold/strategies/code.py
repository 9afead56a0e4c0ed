"""Shorten the prose around fenced code; the code itself stays word for word, in its place."""

from __future__ import annotations

from refold.model.depth import Depth
from refold.strategies.prose import char_budget, round_half_up, summarize_prose
from refold.text.fences import split_fences

_TAG_CHARS = len("[summary: ]")
_MIN_BUDGET = 40


def summarize_around_code(text: str, depth: Depth = "gentle", summary_id: str = "") -> str:
    """Replace each stretch of prose by a summary where that is shorter.

    The budget is that of all prose together, shared out by length.
    """
    stretches = split_fences(text)
    total = sum(len(text[s.start : s.end].strip()) for s in stretches if not s.is_code)
    share = char_budget(total, depth) / max(total, 1)
    head = f"[summary#{summary_id}: " if summary_id else "[summary: "
    pieces = []
    for stretch in stretches:
        piece = text[stretch.start : stretch.end]
        pieces.append(piece if stretch.is_code else _shorten(piece, share, head))
    return "".join(pieces)


def _shorten(piece: str, share: float, head: str) -> str:
    body = piece.strip()
    budget = max(_MIN_BUDGET, round_half_up(len(body) * share))
    if len(body) <= budget + _TAG_CHARS:
        return piece
    stand_in = f"{head}{summarize_prose(body, budget)}]"
    if len(stand_in) >= len(body):
        return piece
    start = piece.find(body)
    return piece[:start] + stand_in + piece[start + len(body) :]
