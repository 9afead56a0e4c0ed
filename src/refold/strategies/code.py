"""Shorten the prose around fenced code; the code itself stays word for word, in its place."""

from __future__ import annotations

from collections.abc import Callable

from refold.model.depth import Depth
from refold.strategies.prose import char_budget, round_half_up
from refold.text.fences import Stretch, iter_stretches

_MIN_BUDGET = 40
_MIN_PROSE = 60
"""Stretches shorter than this gain nothing from a tag around them."""

MakeTag = Callable[[str, int], str]
"""Makes the tagged summary of a stretch of prose, given a budget in characters."""


def shorten_around_code(text: str, depth: Depth, make_tag: MakeTag) -> str:
    """Replace each stretch of prose by a tagged summary where that is shorter.

    The budget is that of all prose together, shared out by length.
    """
    total = 0
    long: list[Stretch] = []  # all others stay, and there may be very many of them
    for stretch in iter_stretches(text):
        if not stretch.is_code:
            length = len(text[stretch.start : stretch.end].strip())
            total += length
            if length >= _MIN_PROSE:
                long.append(stretch)
    share = min(1.0, char_budget(total, depth) / max(total, 1))
    pieces: list[str] = []
    done = 0
    for start, end, _ in long:
        pieces += (text[done:start], _shorten(text[start:end], share, make_tag))
        done = end
    return "".join([*pieces, text[done:]])


def _shorten(piece: str, share: float, make_tag: MakeTag) -> str:
    prose = piece.strip()
    stand_in = make_tag(prose, max(_MIN_BUDGET, round_half_up(len(prose) * share)))
    if len(stand_in) >= len(prose):
        return piece
    start = piece.find(prose)
    return piece[:start] + stand_in + piece[start + len(prose) :]
