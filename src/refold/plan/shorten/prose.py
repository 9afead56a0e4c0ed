"""Shorten prose by choosing whole sentences: the best of each paragraph first, then others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import filterfalse
from typing import Final, final

from refold.options import Depth
from refold.scan.sentence_score import score_sentences
from refold.scan.sentences import sentence_spans
from refold.scan.truncate import cut_words

JOINT: Final = " ... "
ELLIPSIS: Final = "..."
_LONG_TEXT: Final = 5_000
"""For longer texts the cap grows with the logarithm, by the contract."""

Score = int | float
"""The score of a sentence: a whole number, unless a caller's scorer is used."""


def char_budget(length: int, depth: Depth = "gentle", *, unit: int = 1) -> int:
    """Return how many characters a summary of a text of *length* characters may have.

    Both lengths may be counted in *unit* characters each, such as tokens of four.
    """
    match depth:
        case "gentle":
            cap = 600 / unit
            if length > _LONG_TEXT // unit:
                cap += cap * math.log10(length / (_LONG_TEXT // unit)) * 0.75
            return max(200 // unit, min(round_half_up(0.3 * length), round_half_up(cap)))
        case "moderate":
            return max(100 // unit, min(round_half_up(0.15 * length), 400 // unit))
        case "aggressive":
            return max(40 // unit, min(round_half_up(0.05 * length), 120 // unit))


def round_half_up(value: float) -> int:
    """Round to the nearest whole number; halves go up."""
    return math.floor(value + 0.5)


@final
class Units:
    """The sentences that may be chosen and their scores, as columns."""

    __slots__ = ("paragraphs", "scores", "texts")

    def __init__(self, texts: list[str], scores: Sequence[Score], paragraphs: list[int]) -> None:
        self.texts: Final = texts
        self.scores: Final = scores
        self.paragraphs: Final = paragraphs
        """In ascending order."""

    def __len__(self) -> int:
        """Count the sentences."""
        return len(self.texts)


def summarize_groups(groups: Sequence[Units], budget: int) -> str:
    """Join the best units of all groups, at least one of each."""
    first = best_of_each(groups) if len(groups) > 1 else []
    return summarize_units(join_units(groups), budget, first)


def summarize_units(units: Units, budget: int, first: Sequence[int] = ()) -> str:
    """Join the best units, including those at the places *first* whatever they cost."""
    if not units.texts:
        return ""
    chosen = pack_units(units, budget, first)
    if not chosen:
        return _cut(units.texts[best_unit(units)], budget)
    texts = units.texts
    return JOINT.join([texts[place] for place in chosen])


def best_unit(units: Units) -> int:
    """Return the place of the unit with the highest score, the first one on a tie."""
    return units.scores.index(max(units.scores))


def best_of_each(groups: Sequence[Units]) -> list[int]:
    """Return the place of the best unit of each group among all units, without duplicates."""
    found: dict[str, int] = {}
    before = 0
    for units in groups:
        if units.texts:
            best = best_unit(units)
            found[units.texts[best]] = before + best
        before += len(units)
    return list(found.values())


def join_units(groups: Sequence[Units]) -> Units:
    """Concatenate the units of several texts, to choose from them together."""
    if len(groups) == 1:
        return groups[0]
    texts: list[str] = []
    scores: list[Score] = []
    paragraphs: list[int] = []
    before = 0
    for units in groups:
        texts += units.texts
        scores += units.scores
        paragraphs += [before + paragraph for paragraph in units.paragraphs]
        before += units.paragraphs[-1] + 1 if units.paragraphs else 0
    return Units(texts, scores, paragraphs)


def make_units(text: str) -> Units:
    """Score the sentences of *text*; of repeated ones only the first counts."""
    sentences = sentence_spans(text)
    scores = score_sentences(text, sentences)
    texts = [text[start:end] for start, end, _ in sentences]
    paragraphs = [paragraph for _, _, paragraph in sentences]
    if len(set(texts)) < len(texts):
        first = dict(zip(reversed(texts), reversed(range(len(texts))), strict=True))
        places = sorted(first.values())
        texts = [texts[place] for place in places]
        scores = [scores[place] for place in places]
        paragraphs = [paragraphs[place] for place in places]
    if "\n" in text:
        texts = [" ".join(said.split()) if "\n" in said else said for said in texts]
    return Units(texts, scores, paragraphs)


def pack_units(units: Units, budget: int, first: Sequence[int] = ()) -> list[int]:
    """Choose units for *budget* characters; return their places in reading order.

    First those in *first*, then the best of each paragraph, then whatever still fits.
    """
    texts, scores = units.texts, units.scores
    chosen = list(first)
    taken = {texts[place] for place in first}
    left = budget + len(JOINT)  # the first unit has no joint
    for text in taken:
        left -= len(text) + len(JOINT)
    for place in _ranked(units):
        text = texts[place]
        cost = len(text) + len(JOINT)
        if cost <= left and scores[place] >= 0 and text not in taken:
            chosen.append(place)
            taken.add(text)
            left -= cost
    chosen.sort()
    return chosen


def _ranked(units: Units) -> list[int]:
    """Order units: the best of each paragraph first, then the others, each by score."""
    leads: list[int] = []
    paragraph = -1
    best: Score = 0
    for place, score in enumerate(units.scores):
        if units.paragraphs[place] != paragraph:
            paragraph = units.paragraphs[place]
            leads.append(place)
            best = score
        elif score > best:
            leads[-1] = place
            best = score
    is_lead = set(leads).__contains__
    ranked = sorted(spread(len(units)), key=units.scores.__getitem__, reverse=True)
    return [*filter(is_lead, ranked), *filterfalse(is_lead, ranked)]


@lru_cache(maxsize=256)
def spread(count: int) -> tuple[int, ...]:
    """Order places so that the first few already cover a text from beginning to end.

    Reversing the bits of a place gives first, middle, first quarter, third quarter, …: among
    sentences with equal scores, a summary should not just take the beginning of the text.
    """
    order = [0]
    while len(order) < count:
        order = [2 * place for place in order] + [2 * place + 1 for place in order]
    return tuple(place for place in order if place < count)


def _cut(best: str, budget: int) -> str:
    """Cut the best unit, if not even that one fits whole."""
    if len(best) <= max(budget, 0):
        return best
    return cut_words(best, budget - len(ELLIPSIS)) + ELLIPSIS
