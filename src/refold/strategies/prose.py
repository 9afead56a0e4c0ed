"""Shorten prose by choosing whole sentences: the best of each paragraph first, then the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from refold.model.depth import Depth
from refold.scoring.sentence import SentenceScorer
from refold.text.sentences import Sentence, find_sentences
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
    return max(units, key=lambda unit: unit.score)


def renumber(groups: Iterable[Sequence[Unit]]) -> list[list[Unit]]:
    """Give the units of several texts common numbers, to choose from them together."""
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
    """Score the sentences of *text*, each distinct one once."""
    first: dict[str, Sentence] = {}
    for sentence in find_sentences(text):
        first.setdefault(text[sentence[0] : sentence[1]], sentence)
    starts = [start for start, _, _ in first.values()]
    scores = (scorer or SentenceScorer()).score(text, first.keys(), starts)
    return [
        Unit(place, _one_line(said), score, sentence[2])
        for place, (said, sentence, score) in enumerate(
            zip(first.keys(), first.values(), scores, strict=True)
        )
    ]


def _one_line(sentence: str) -> str:
    """Return the sentence with wrapped lines joined."""
    return " ".join(sentence.split()) if "\n" in sentence else sentence


def pack_units(units: Sequence[Unit], budget: int, first: Sequence[Unit] = ()) -> list[Unit]:
    """Choose units for *budget* characters, in reading order.

    Those in *first* are in; then come the best of each paragraph, then whatever still fits.
    """
    chosen = list(first)
    taken = {unit.text for unit in chosen}
    used = sum(map(len, taken)) + len(JOINT) * max(len(taken) - 1, 0)
    for unit in _ranked(units):
        if unit.score < 0 or unit.text in taken:
            continue
        cost = len(unit.text) + (len(JOINT) if taken else 0)
        if used + cost <= budget:
            chosen.append(unit)
            taken.add(unit.text)
            used += cost
    return sorted(chosen, key=lambda unit: unit.place)


def _ranked(units: Sequence[Unit]) -> list[Unit]:
    best: dict[int, Unit] = {}
    for unit in units:
        held = best.get(unit.paragraph)
        if held is None or unit.score > held.score:
            best[unit.paragraph] = unit
    spread = _spread_order(len(units))

    def rank(unit: Unit) -> tuple[bool, float, int]:
        return best[unit.paragraph] is not unit, -unit.score, spread(unit.place)

    return sorted(units, key=rank)


def _spread_order(count: int) -> Callable[[int], int]:
    """Order equals so that a few of them already cover a text from beginning to end.

    Reversing the bits of the place gives first, middle, first quarter, third quarter, …: where
    nothing tells sentences apart, a summary should not be just the beginning of the text.
    """
    bits = max(count - 1, 1).bit_length()

    def order(place: int) -> int:
        return int(format(place, f"0{bits}b")[::-1], 2)

    return order


def _cut_best(units: Sequence[Unit], budget: int) -> str:
    """Cut the best unit when not even one fits whole."""
    best = best_unit(units)
    if len(best.text) <= budget:
        return best.text
    return cut_words(best.text, budget - len(ELLIPSIS)) + ELLIPSIS
