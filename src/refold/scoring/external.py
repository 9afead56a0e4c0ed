"""Scores from outside: a caller's own judge of sentences, alone or mixed with ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal

ScoreSentences = Callable[[Sequence[str]], Sequence[float]]
"""Scores sentences; higher is more worth keeping."""

ScoreMode = Literal["augment", "replace"]

_OWN_SHARE: Final = 0.4
"""Who gives scores of their own trusts them more than ours. A guess; at 0 it would be "replace"."""
_SCALE: Final = 20
"""Brings mixed scores into the range of our own."""


def mix_scores(own: Sequence[float], given: Sequence[Any], mode: ScoreMode) -> list[float] | None:
    """Combine our scores with those given, sentence by sentence.

    Returns nothing if the given ones cannot be used: another number of them, or no numbers at all.
    They come from a caller's function, so nothing is taken for granted about them.
    """
    if len(own) != len(given) or not all(_is_number(score) for score in given):
        return None
    numbers = [float(score) for score in given]
    if mode == "replace":
        return numbers
    return [
        _SCALE * (_OWN_SHARE * mine + (1 - _OWN_SHARE) * theirs)
        for mine, theirs in zip(normalize(own), normalize(numbers), strict=True)
    ]


def _is_number(score: object) -> bool:
    return isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)


def normalize(scores: Sequence[float]) -> list[float]:
    """Stretch scores to the range from 0 to 1; equal scores are all 0.5."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    if high == low:
        return [0.5] * len(scores)
    return [(score - low) / (high - low) for score in scores]
