"""Shorten the prose around fenced code; the code stays as it is, in its place."""

from __future__ import annotations

from collections.abc import Callable

from refold.options import Depth
from refold.plan.shorten import POINTS, SummaryRules
from refold.plan.shorten.prose import round_half_up
from refold.scan.structure import Stretch, iter_stretches

MakeTag = Callable[[str, int], str]
"""Makes the tagged summary of a stretch of prose, given its room."""


def shorten_around_code(
    text: str, depth: Depth, make_tag: MakeTag, rules: SummaryRules = POINTS
) -> str:
    """Replace each stretch of prose by a tagged summary where that is shorter.

    The *rules* give the room for all prose together, which is divided by length.
    """
    total = 0
    long: list[Stretch] = []  # all others stay as they are
    for stretch in iter_stretches(text):
        if not stretch.is_code:
            length = rules.measure(text[stretch.start : stretch.end].strip())
            total += length
            if length >= rules.short_prose:
                long.append(stretch)
    share = min(1.0, rules.room(total, depth) / max(total, 1))
    pieces: list[str] = []
    done = 0
    for start, end, _ in long:
        pieces += (text[done:start], _shorten(text[start:end], share, make_tag, rules))
        done = end
    return "".join([*pieces, text[done:]])


def _shorten(piece: str, share: float, make_tag: MakeTag, rules: SummaryRules) -> str:
    prose = piece.strip()
    room = round_half_up(rules.measure(prose) * share)
    stand_in = make_tag(prose, max(rules.least_room, room))
    if len(stand_in) >= len(prose):
        return piece
    start = piece.find(prose)
    return piece[:start] + stand_in + piece[start + len(prose) :]
