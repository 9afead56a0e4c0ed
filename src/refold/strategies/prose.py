"""Shorten prose by choosing whole sentences: the best of each paragraph first, then the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Final, NamedTuple

from refold.model.depth import Depth
from refold.scoring.sentence import SentenceScorer
from refold.text.sentences import sentence_spans
from refold.text.truncate import cut_words

JOINT: Final = " ... "
ELLIPSIS: Final = "..."
_LONG_TEXT: Final = 5_000


def char_budget(length: int, depth: Depth = "gentle") -> int:
    """Return how many characters a summary of a text of *length* characters may have."""
    match depth:
        case "gentle":
            cap = 600.0
            if length > _LONG_TEXT:
                cap += 600 * math.log10(length / _LONG_TEXT) * 0.75
            return max(200, min(round_half_up(0.3 * length), round_half_up(cap)))
        case "moderate":
            return max(100, min(round_half_up(0.15 * length), 400))
        case "aggressive":
            return max(40, min(round_half_up(0.05 * length), 120))


def round_half_up(value: float) -> int:
    """Round to the nearest whole number; halves go up."""
    return math.floor(value + 0.5)


class Unit(NamedTuple):
    """A sentence that may be chosen, with what it is worth."""

    place: int
    text: str
    score: float
    paragraph: int


_new_unit: Final = partial(tuple.__new__, Unit)
"""Makes a unit of its values at once, which is faster than naming them."""
_PLACE: Final = itemgetter(0)
_SCORE: Final = itemgetter(2)


def summarize_units(units: Sequence[Unit], budget: int, first: Sequence[Unit] = ()) -> str:
    """Join the units that matter most, those in *first* whatever they cost."""
    if not units:
        return ""
    chosen = pack_units(units, budget, first)
    if not chosen:
        return _cut_best(units, budget)
    return JOINT.join(unit.text for unit in chosen)


def best_unit(units: Sequence[Unit]) -> Unit:
    """Return the unit with the highest score, the first one on a tie."""
    return max(units, key=_SCORE)


def renumber(groups: Sequence[list[Unit]]) -> Sequence[list[Unit]]:
    """Give the units of several texts common numbers, to choose from them together."""
    if len(groups) == 1:
        return groups
    place = paragraph = 0
    numbered: list[list[Unit]] = []
    for units in groups:
        group: list[Unit] = []
        for unit in units:
            group.append(Unit(place, unit.text, unit.score, paragraph + unit.paragraph))
            place += 1
        paragraph += units[-1].paragraph + 1 if units else 0
        numbered.append(group)
    return numbered


def make_units(text: str, scorer: SentenceScorer | None = None) -> list[Unit]:
    """Score the sentences of *text*; one that is said again counts where it is said first."""
    sentences = sentence_spans(text)
    scores = (scorer or SentenceScorer()).score(text, sentences)
    has_lines = "\n" in text
    units: list[Unit] = []
    seen: set[str] = set()
    for number, (start, end, paragraph) in enumerate(sentences):
        said = text[start:end]
        if said not in seen:
            seen.add(said)
            line = " ".join(said.split()) if has_lines and "\n" in said else said
            units.append(_new_unit((len(units), line, scores[number], paragraph)))
    return units


def pack_units(units: Sequence[Unit], budget: int, first: Sequence[Unit] = ()) -> list[Unit]:
    """Choose units for *budget* characters, in reading order.

    Those in *first* are in; then come the best of each paragraph, then whatever still fits.
    """
    chosen = list(first)
    taken = {unit.text for unit in chosen}
    left = budget - sum(map(len, taken)) - len(JOINT) * max(len(taken) - 1, 0)
    for unit in _ranked(units):
        _, text, score, _ = unit
        cost = len(text) + (len(JOINT) if taken else 0)
        if cost <= left and score >= 0 and text not in taken:
            chosen.append(unit)
            taken.add(text)
            left -= cost
    return sorted(chosen, key=_PLACE)


def _ranked(units: Sequence[Unit]) -> list[Unit]:
    """Put the best unit of each paragraph first, then the others; the better the earlier."""
    best: dict[int, Unit] = {}
    for unit in units:
        _, _, score, paragraph = unit
        held = best.get(paragraph)
        if held is None or score > held[2]:
            best[paragraph] = unit
    leading: list[Unit] = []
    others: list[Unit] = []
    for unit in sorted(map(units.__getitem__, _spread(len(units))), key=_SCORE, reverse=True):
        (leading if best[unit[3]] is unit else others).append(unit)
    return leading + others


@lru_cache(maxsize=256)
def _spread(count: int) -> tuple[int, ...]:
    """Order places so that a few of them already cover a text from beginning to end.

    Reversing the bits of the place gives first, middle, first quarter, third quarter, …: where
    nothing tells sentences apart, a summary should not be just the beginning of the text.
    """
    order = [0]
    while len(order) < count:
        order = [2 * place for place in order] + [2 * place + 1 for place in order]
    return tuple(place for place in order if place < count)


def _cut_best(units: Sequence[Unit], budget: int) -> str:
    """Cut the best unit when not even one fits whole."""
    best = best_unit(units)
    if len(best.text) <= budget:
        return best.text
    return cut_words(best.text, budget - len(ELLIPSIS)) + ELLIPSIS
