"""What each word and value is worth: how likely a later turn comes back to it.

In agent runs that is a small additive model: every item has a handful of traits (its shape, how
long ago it was said last, by whom, in how many turns, …), each trait adds its points, and the sum
is a log-odds. The points are learned from real runs by `bench/learn_weights.py` and kept in
`weights.json`. In plain talk, where nobody works with tools, rare words that were taken up again
are what people ask about afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp, log, sqrt
from typing import Final

from refold.planner.items import Shape
from refold.planner.survey import VOICES, Survey, Voice

Points = Mapping[str, Sequence[float]]
"""Trait → the points of each of its grades."""
Grades = dict[str, list[int]]
"""Trait → the grade of each turn or item."""

GRADES: Final[Mapping[str, int]] = {
    "gap": 10,
    "room": 10,
    "place": 10,
    "answered": 2,
    "length": 10,
    "teller": 3,
    "age": 10,
    "task": 2,
    "shape_turns": 5 * Shape.NONE,
    "turns": 6,
    "times": 7,
    "share": 5,
    "voices": 2 * VOICES,
    "shape_teller": 3 * Shape.NONE,
}
"""How many grades each trait has."""

_TOKENS: Final = 64
_CHARS: Final = 50
_MIN_COMMON: Final = 5.0
_TALK_VALUE: Final = 2.0
_TALK_SHARE: Final = 0.14
_COMMON: Final = 0.02


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


def grade_items(survey: Survey, turns: Sequence[Turn]) -> Grades:
    """Grade each item by itself."""
    count = len(turns)
    tellers = [_TELLERS[turn.voice] for turn in turns]
    shapes, last, said = survey.shape, survey.last, survey.turns
    return {
        "shape_turns": [5 * s + min(n, 4) for s, n in zip(shapes, said, strict=True)],
        "turns": [_log2(n, 5) for n in said],
        "times": [_log2(n, 6) for n in survey.times],
        "share": [min(4, 10 * n // count) for n in said],
        "voices": [
            v + VOICES * (s >= Shape.WORD) for v, s in zip(survey.voices, shapes, strict=True)
        ],
        "shape_teller": [3 * s + tellers[i] for s, i in zip(shapes, last, strict=True)],
    }


def word_factor(budget: float, total: float) -> float:
    """Return what a plain word counts beside a value.

    Words are said again by chance far more often than values are. The less room there is, the more
    they are needed to tell what it was all about.
    """
    tightness = max(0.0, 0.5 - budget / max(1.0, total)) / 0.4
    return float(0.07 + 0.2 * tightness**1.6)


def learned_worths(
    survey: Survey, turns: Sequence[Turn], points: Points, word_factor: float
) -> list[float]:
    """Return the chance of each item to be needed later, as far as its traits tell."""
    sums = [points["bias"][0]] * len(survey.shape)
    for columns, rows in (
        (grade_last(turns), survey.last),
        (grade_first(turns), survey.first),
    ):
        by_turn = [
            sum(points[trait][grades[i]] for trait, grades in columns.items())
            for i in range(len(turns))
        ]
        sums = [total + by_turn[row] for total, row in zip(sums, rows, strict=True)]
    for trait, grades in grade_items(survey, turns).items():
        own = points[trait]
        sums = [total + own[grade] for total, grade in zip(sums, grades, strict=True)]
    factors = [1.0 if shape < Shape.WORD else word_factor for shape in range(Shape.NONE)]
    return [
        factors[shape] / (1.0 + exp(-total))
        for total, shape in zip(sums, survey.shape, strict=True)
    ]


def talk_worths(survey: Survey, turns: Sequence[Turn]) -> list[float]:
    """Return the worth of each item by its rarity: most for rare ones that were taken up again."""
    count = len(turns)
    common = max(_MIN_COMMON, 0.1 * count)
    by_turns = [0.0] + [
        log((count + 1) / (said + 0.5)) * sqrt(said) if said <= common else _COMMON
        for said in range(1, count + 1)
    ]
    return [
        by_turns[said] * (_TALK_VALUE if shape < Shape.WORD else 1.0)
        for said, shape in zip(survey.turns, survey.shape, strict=True)
    ]


def is_talk(survey: Survey, turns: Sequence[Turn]) -> bool:
    """Tell plain talk from work with tools, files and data."""
    return (
        all(turn.voice is not Voice.TOOL for turn in turns) and survey.value_share() < _TALK_SHARE
    )


@cache
def learned_points() -> Points:
    """Read the points that ship with the package."""
    text = resources.files("refold.planner").joinpath("weights.json").read_text("utf-8")
    points: dict[str, list[float]] = json.loads(text)["points"]
    return points
