"""The relevance of each item (word or value): how likely a later turn comes back to it.

For agent runs this is a logistic model. Each item has a handful of features (its shape, how long
ago it was last said, by whom, in how many turns, …); each feature falls into a bucket with a
weight, and the sum of the weights is a log-odds. Two classes of items have their own weights:
values, which are copied verbatim, and plain words. `bench/learn_weights.py` learns them from real
runs and writes `weights.json`. In plain talk, without tools, people ask later about rare words that
were taken up again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import compress
from math import exp, log, sqrt
from typing import Final

from refold.plan.item_index import VOICES, ItemStats, Voice
from refold.scan.items import Shape

ClassWeights = Mapping[str, Sequence[float]]
"""Feature → the weight of each of its buckets."""
Weights = Mapping[str, ClassWeights]
"""Class of items, `VALUES` or `WORDS` → its weights."""
Buckets = dict[str, list[int]]
"""Feature → the bucket of each turn or item."""

VALUES: Final = "values"
WORDS: Final = "words"
_OF_TURNS: Final[Mapping[str, int]] = {
    "gap": 10,
    "room": 10,
    "place": 10,
    "answered": 2,
    "length": 10,
    "teller": 3,
    "age": 10,
    "task": 2,
}
_OF_ITEMS: Final[Mapping[str, int]] = {"turns": 6, "times": 7, "share": 5, "voices": VOICES}
_PLAIN_SHAPES: Final = Shape.NONE - Shape.WORD
BUCKETS: Final[Mapping[str, Mapping[str, int]]] = {
    VALUES: {
        **_OF_TURNS,
        **_OF_ITEMS,
        "shape_turns": 5 * Shape.NONE,
        "shape_teller": 3 * Shape.NONE,
    },
    WORDS: {
        **_OF_TURNS,
        **_OF_ITEMS,
        "shape_turns": 5 * _PLAIN_SHAPES,
        "shape_teller": 3 * _PLAIN_SHAPES,
        "chars": 16,
    },
}
"""The number of buckets of each feature, by class."""

_NEVER_COPIED: Final = frozenset({Shape.WORD, Shape.CJK})
_CAPITALS: Final = frozenset({int(Shape.NAME), int(Shape.UPPER)})
_MANY_TIMES: Final = 63
_MANY_TURNS: Final = 4
_MANY_CHARS: Final = 15
"""Higher counts than these make no difference."""
_FIRST_SHAPE: Final[Mapping[str, int]] = {VALUES: 0, WORDS: Shape.WORD}
"""The shape of the first bucket, by class."""
_MEMBERS: Final[Mapping[str, Sequence[bool]]] = {
    VALUES: [shape not in _NEVER_COPIED for shape in Shape],
    WORDS: [shape >= Shape.WORD for shape in Shape],
}
"""Whether each shape belongs to a class."""
_NO_CHARS: Final = (0.0,) * (_MANY_CHARS + 1)
"""The weights of lengths in a class without learned ones."""
_TOKENS: Final = 64
_CHARS: Final = 50
"""The units of the scales of room and length, which grow by powers of two."""
_SOME: Final = 0.5
"""Added to both sums of chances, so that their ratio is sane with hardly any values or words."""
_MIN_COMMON: Final = 5.0
"""A word in no more turns is not common yet, however short the talk."""
_TALK_VALUE: Final = 2.0
"""The factor of a value in talk, beside words."""
_REQUIREMENT: Final = 12.0
"""The factor of a value that the user named: it says what is wanted, and still holds later."""
_COMMON: Final = 0.02
"""The relevance of a common word: next to nothing, but more than none."""
_NEWS: Final = 1.0
"""How much more the last words of a short talk count than the first ones."""
_SHORT_TALK: Final = 30
"""Turns of a short talk; in longer ones the newest words gain less."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The features of one turn."""

    voice: Voice
    chars: int
    tokens: int


def _log2(number: float, most: int) -> int:
    """Return the integer part of log₂(1 + number), at most *most*."""
    return min(most, (int(number) + 1).bit_length() - 1)


_TELLERS: Final = {Voice.USER: 0, Voice.ASSISTANT: 1, Voice.TOOL: 2}


def bucket_last(turns: Sequence[Turn]) -> Buckets:
    """Return the buckets of each turn as the last one that said an item."""
    after = sum(turn.tokens for turn in turns)
    room: list[int] = []
    for turn in turns:
        room.append(_log2(after / _TOKENS, 9))
        after -= turn.tokens
    count = len(turns)
    asked = max((i for i, turn in enumerate(turns) if turn.voice is Voice.USER), default=0)
    return {
        "gap": [_log2(count - 1 - i, 9) for i in range(count)],
        "room": room,
        "place": [10 * i // count for i in range(count)],
        "answered": [int(i < asked) for i in range(count)],
        "length": [_log2(turn.chars / _CHARS, 9) for turn in turns],
        "teller": [_TELLERS[turn.voice] for turn in turns],
    }


def bucket_first(turns: Sequence[Turn]) -> Buckets:
    """Return the buckets of each turn as the first one that said an item."""
    count = len(turns)
    task = next((i for i, turn in enumerate(turns) if turn.voice is Voice.USER), -1)
    return {
        "age": [_log2(count - 1 - i, 9) for i in range(count)],
        "task": [int(i == task) for i in range(count)],
    }


def rows_of(stats: ItemStats) -> dict[str, list[int]]:
    """Return the rows of each class; names are in both: they are words and copied, too."""
    rows, shapes = range(len(stats.shape)), stats.shape
    return {
        class_: list(compress(rows, map(is_member.__getitem__, shapes)))
        for class_, is_member in _MEMBERS.items()
    }


def bucket_items(
    stats: ItemStats, turns: Sequence[Turn], class_: str, rows: Sequence[int]
) -> Buckets:
    """Return the buckets of each item in *rows* that do not follow from its turns."""
    tellers = [_TELLERS[turn.voice] for turn in turns]
    first_shape = _FIRST_SHAPE[class_]
    shapes = [stats.shape[row] - first_shape for row in rows]
    said = list(map(_turns_said(stats, class_).__getitem__, rows))
    last, times, voices = stats.last, stats.times, stats.voices
    by_turns, by_times, by_share = _count_buckets(len(turns), max(said, default=0))
    buckets = {
        "turns": list(map(by_turns.__getitem__, said)),
        "times": [by_times[min(times[row], _MANY_TIMES)] for row in rows],
        "share": list(map(by_share.__getitem__, said)),
        "voices": list(map(voices.__getitem__, rows)),
        "shape_turns": [5 * s + min(n, _MANY_TURNS) for s, n in zip(shapes, said, strict=True)],
        "shape_teller": [3 * s + tellers[last[row]] for s, row in zip(shapes, rows, strict=True)],
    }
    if class_ == WORDS:
        lengths = list(map(len, stats.number))
        buckets["chars"] = [min(_MANY_CHARS, lengths[row]) for row in rows]
    return buckets


def _count_buckets(count: int, most: int) -> tuple[list[int], list[int], list[int]]:
    """Return the buckets of counts in a run of *count* turns.

    By the number of turns that said an item, up to *most*; by the number of times; by the share of
    the turns.
    """
    by_turns = [_log2(n, 5) for n in range(most + 1)]
    by_times = [_log2(n, 6) for n in range(_MANY_TIMES + 1)]
    by_share = [min(4, 10 * n // max(1, count)) for n in range(most + 1)]
    return by_turns, by_times, by_share


def _turns_said(stats: ItemStats, class_: str) -> list[int]:
    """Return how many turns said each item; for words, regardless of case."""
    return _turns_in_any_case(stats) if class_ == WORDS else stats.turns


def _turns_in_any_case(stats: ItemStats) -> list[int]:
    """Return the turn counts with words added to their lower-case forms, and vice versa."""
    said, number = list(stats.turns), stats.number
    has_capitals = map(_CAPITALS.__contains__, stats.shape)
    for item in compress(number, has_capitals):
        small = number.get(item.lower())
        if small is not None:
            row = number[item]
            said[row] = said[small] = said[row] + said[small]
    return said


def learned_relevance(
    stats: ItemStats, turns: Sequence[Turn], weights: Weights, share: float
) -> list[float]:
    """Return the relevance of each item if *share* of all tokens can be shown.

    The chances that items are needed later are normalized per class: words recur by chance far more
    often than values do, so the total of all words is fixed relative to that of all values.
    """
    relevance = [0.0] * len(stats.shape)
    power = -_evenness(share)
    rows = rows_of(stats)
    buckets = _TurnBuckets(turns)
    chances = {
        class_: [(1.0 + exp(-odds)) ** power for odds in _log_odds(stats, buckets, class_, weights)]
        for class_ in rows
    }
    for row, chance in zip(rows[VALUES], chances[VALUES], strict=True):
        relevance[row] = chance
    class_ratio = (sum(chances[VALUES]) + _SOME) / (sum(chances[WORDS]) + _SOME)
    factor = _words_beside_values(share) * class_ratio
    for row, chance in zip(rows[WORDS], chances[WORDS], strict=True):
        relevance[row] += factor * chance
    return relevance


def _words_beside_values(share: float) -> float:
    """Return the total relevance of words relative to values, by the *share* that can be shown.

    The less room there is, the more words are needed to tell what it was all about.
    """
    return max(0.37, 1.02 - 1.55 * share)


def _evenness(share: float) -> float:
    """Return the power that chances are raised to.

    With little room only the best chances count; with much room most items are shown anyway, and
    those that the model underrates matter.
    """
    return min(1.0, max(0.7, 1.2 - share))


class _TurnBuckets:
    """The buckets of all turns, which are the same for all classes of items."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.count = len(turns)
        self.last = bucket_last(turns)
        self.first = bucket_first(turns)


def _log_odds(stats: ItemStats, turns: _TurnBuckets, class_: str, weights: Weights) -> list[float]:
    """Return the log-odds of each item of a class: the sum of the weights of its buckets.

    `bucket_items` defines the buckets. Here, weights are laid out by the figures that select a
    bucket, so that one pass over the items is enough.
    """
    own, is_member = weights[class_], _MEMBERS[class_]
    said = _turns_said(stats, class_)
    by_turns, by_times, by_share = _count_buckets(turns.count, max(said, default=0))
    bias = own["bias"][0]
    of_last = [bias + weight for weight in _add_up(own, turns.last)]
    of_first = _add_up(own, turns.first)
    of_turns = list(map(own["turns"].__getitem__, by_turns))
    of_times = list(map(own["times"].__getitem__, by_times))
    of_share = list(map(own["share"].__getitem__, by_share))
    of_voices = own["voices"]
    shapes = [shape - _FIRST_SHAPE[class_] for shape in range(Shape.NONE)]
    by_shape = [own["shape_turns"][5 * n : 5 * n + 5] if n >= 0 else () for n in shapes]
    by_teller = [own["shape_teller"][3 * n : 3 * n + 3] if n >= 0 else () for n in shapes]
    tellers = turns.last["teller"]
    of_chars = own.get("chars", _NO_CHARS)
    figures = zip(
        *(stats.number, stats.shape, stats.last, stats.first, said, stats.times, stats.voices),
        strict=True,
    )
    return [
        of_last[last]
        + of_first[first]
        + of_turns[n]
        + of_times[times if times < _MANY_TIMES else _MANY_TIMES]
        + of_share[n]
        + of_voices[voices]
        + by_shape[shape][n if n < _MANY_TURNS else _MANY_TURNS]
        + by_teller[shape][tellers[last]]
        + of_chars[len(item) if len(item) < _MANY_CHARS else _MANY_CHARS]
        for item, shape, last, first, n, times, voices in figures
        if is_member[shape]
    ]


def _add_up(class_: ClassWeights, columns: Buckets) -> list[float]:
    """Return the sum of the weights of each turn over all features."""
    weights = (map(class_[feature].__getitem__, buckets) for feature, buckets in columns.items())
    return list(map(sum, zip(*weights, strict=True)))


def talk_relevance(stats: ItemStats, turns: Sequence[Turn]) -> list[float]:
    """Return the relevance of each item by its rarity: highest for rare ones that recur.

    A short talk is about what was said last; a long one has many subjects.
    """
    count = len(turns)
    common = max(_MIN_COMMON, 0.1 * count)
    by_turns = [0.0] + [
        log((count + 1) / (said + 0.5)) * sqrt(said) if said <= common else _COMMON
        for said in range(1, count + 1)
    ]
    news = _NEWS * min(1.0, _SHORT_TALK / max(1, count))
    by_last = [1.0 + news * (turn / max(1, count - 1)) ** 2 for turn in range(count)]
    by_voices = [_REQUIREMENT if voices & Voice.USER else _TALK_VALUE for voices in range(VOICES)]
    columns = zip(stats.last, stats.turns, stats.shape, stats.voices, strict=True)
    return [
        by_last[last] * by_turns[said] * (by_voices[voices] if shape < Shape.WORD else 1.0)
        for last, said, shape, voices in columns
    ]


@cache
def learned_weights() -> Weights:
    """Read the learned weights that ship with the package."""
    text = resources.files("refold.plan").joinpath("weights.json").read_text("utf-8")
    weights: dict[str, dict[str, list[float]]] = json.loads(text)["weights"]
    return weights
