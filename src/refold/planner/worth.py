"""What each word and value is worth: how likely a later turn comes back to it.

In agent runs that is a small additive model: every item has a handful of traits (its shape, how
long ago it was said last, by whom, in how many turns, …), each trait adds its points, and the sum
is a log-odds. There are two cards of points, because what makes a value come back is not what makes
a word come back: one for values, which are copied as they are, one for plain words. Both are
learned from real runs by `bench/learn_weights.py` and kept in `weights.json`. In plain talk, where
nobody works with tools, rare words that were taken up again are what people ask about afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp, log, sqrt
from operator import add
from typing import Final

from refold.planner.items import Shape
from refold.planner.survey import VOICES, Survey, Voice

Card = Mapping[str, Sequence[float]]
"""Trait → the points of each of its grades."""
Points = Mapping[str, Card]
"""The cards: `VALUES` and `WORDS`."""
Grades = dict[str, list[int]]
"""Trait → the grade of each turn or item."""

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
GRADES: Final[Mapping[str, Mapping[str, int]]] = {
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
"""How many grades each trait of each card has."""

_MANY_TIMES: Final = 63
"""More often than this makes no difference."""
_TOKENS: Final = 64
_CHARS: Final = 50
_NEVER_COPIED: Final = frozenset({Shape.WORD, Shape.CJK})
_SOME: Final = 0.5
"""Keeps the scales in hand where there are next to no values or words."""
_MIN_COMMON: Final = 5.0
_TALK_VALUE: Final = 2.0
_REQUIREMENT: Final = 12.0
"""What a value counts that a user named in talk: it says what is wanted, and still holds later."""
_COMMON: Final = 0.02
_NEWS: Final = 1.0
"""How much more the last words of a short talk are worth than the first ones."""
_SHORT_TALK: Final = 30


@dataclass(frozen=True, slots=True)
class Turn:
    """What the model needs to know of a message."""

    voice: Voice
    chars: int
    tokens: int


def _log2(number: float, most: int) -> int:
    """Return the whole part of log₂(1 + number), at most *most*."""
    return min(most, (int(number) + 1).bit_length() - 1)


_TELLERS: Final = {Voice.USER: 0, Voice.ASSISTANT: 1, Voice.TOOL: 2}


def grade_last(turns: Sequence[Turn]) -> Grades:
    """Grade each turn as the one that said something last."""
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


def grade_first(turns: Sequence[Turn]) -> Grades:
    """Grade each turn as the one that said something first."""
    count = len(turns)
    task = next((i for i, turn in enumerate(turns) if turn.voice is Voice.USER), -1)
    return {
        "age": [_log2(count - 1 - i, 9) for i in range(count)],
        "task": [int(i == task) for i in range(count)],
    }


def rows_of(survey: Survey) -> dict[str, list[int]]:
    """Return the items that each card is for; names are words, and are copied, too."""
    shapes = survey.shape
    return {
        VALUES: [row for row, shape in enumerate(shapes) if shape not in _NEVER_COPIED],
        WORDS: [row for row, shape in enumerate(shapes) if shape >= Shape.WORD],
    }


def grade_items(survey: Survey, turns: Sequence[Turn], card: str, rows: Sequence[int]) -> Grades:
    """Grade each of the items in *rows* by itself."""
    count = len(turns)
    tellers = [_TELLERS[turn.voice] for turn in turns]
    first_shape = Shape.WORD if card == WORDS else 0
    shapes = [survey.shape[row] - first_shape for row in rows]
    counted = _turns_in_any_case(survey) if card == WORDS else survey.turns
    said = list(map(counted.__getitem__, rows))
    last, times, voices = survey.last, survey.times, survey.voices
    by_turns = [_log2(n, 5) for n in range(max(said, default=0) + 1)]
    by_times = [_log2(n, 6) for n in range(_MANY_TIMES + 1)]
    by_share = [min(4, 10 * n // max(1, count)) for n in range(len(by_turns))]
    grades = {
        "turns": list(map(by_turns.__getitem__, said)),
        "times": [by_times[min(times[row], _MANY_TIMES)] for row in rows],
        "share": list(map(by_share.__getitem__, said)),
        "voices": list(map(voices.__getitem__, rows)),
        "shape_turns": [5 * s + min(n, 4) for s, n in zip(shapes, said, strict=True)],
        "shape_teller": [3 * s + tellers[last[row]] for s, row in zip(shapes, rows, strict=True)],
    }
    if card == WORDS:
        lengths = list(map(len, survey.number))
        grades["chars"] = [min(15, lengths[row]) for row in rows]
    return grades


def _turns_in_any_case(survey: Survey) -> list[int]:
    """Count the turns of each word together with those that write it in small letters."""
    said, number, shapes = list(survey.turns), survey.number, survey.shape
    for item, row in number.items():
        if shapes[row] in (Shape.NAME, Shape.UPPER):
            small = number.get(item.lower())
            if small is not None:
                said[row] = said[small] = said[row] + said[small]
    return said


def learned_worths(
    survey: Survey, turns: Sequence[Turn], points: Points, share: float
) -> list[float]:
    """Return what each item is worth if *share* of all tokens can be shown.

    Values and words are two purses, each shared out by the chance of its items to be needed later:
    words are said again by chance far more often than values are, so what all words are worth is
    fixed beside what all values are worth.
    """
    worths = [0.0] * len(survey.shape)
    power = -_evenness(share)
    rows = rows_of(survey)
    chances = {
        card: [(1.0 + exp(-odds)) ** power for odds in _log_odds(survey, turns, card, own, points)]
        for card, own in rows.items()
    }
    for row, chance in zip(rows[VALUES], chances[VALUES], strict=True):
        worths[row] = chance
    purses = (sum(chances[VALUES]) + _SOME) / (sum(chances[WORDS]) + _SOME)
    factor = _words_beside_values(share) * purses
    for row, chance in zip(rows[WORDS], chances[WORDS], strict=True):
        worths[row] += factor * chance
    return worths


def _words_beside_values(share: float) -> float:
    """Return what all words are worth beside all values, by the share that can be shown.

    The less room there is, the more words are needed to tell what it was all about.
    """
    return max(0.37, 1.02 - 1.55 * share)


def _evenness(share: float) -> float:
    """Return the power that chances are raised to.

    With little room only the best chances count; with much room most of them are taken anyway, and
    then those that the model underrates matter.
    """
    return min(1.0, max(0.7, 1.2 - share))


def _log_odds(
    survey: Survey, turns: Sequence[Turn], card: str, rows: Sequence[int], points: Points
) -> list[float]:
    """Add up the points on a card of the items in *rows*."""
    own = points[card]
    of_last = _add_up(own, grade_last(turns))
    of_first = _add_up(own, grade_first(turns))
    last, first, bias = survey.last, survey.first, own["bias"][0]
    sums = [bias + of_last[last[row]] + of_first[first[row]] for row in rows]
    for trait, grades in grade_items(survey, turns, card, rows).items():
        sums = list(map(add, sums, map(own[trait].__getitem__, grades)))
    return sums


def _add_up(card: Card, columns: Grades) -> list[float]:
    """Add up the points on a card of each turn, trait by trait."""
    points = (map(card[trait].__getitem__, grades) for trait, grades in columns.items())
    return list(map(sum, zip(*points, strict=True)))


def talk_worths(survey: Survey, turns: Sequence[Turn]) -> list[float]:
    """Return the worth of each item by its rarity: most for rare ones that were taken up again.

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
    columns = zip(survey.last, survey.turns, survey.shape, survey.voices, strict=True)
    return [
        by_last[last] * by_turns[said] * (by_voices[voices] if shape < Shape.WORD else 1.0)
        for last, said, shape, voices in columns
    ]


@cache
def learned_points() -> Points:
    """Read the points that ship with the package."""
    text = resources.files("refold.planner").joinpath("weights.json").read_text("utf-8")
    points: dict[str, dict[str, list[float]]] = json.loads(text)["points"]
    return points
