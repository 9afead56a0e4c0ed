"""How random a word looks: shared by all that tell keys from names."""

from __future__ import annotations

import re
from typing import Final

_CHANGE: Final = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])")
_DIGIT: Final = re.compile("[0-9]")
_SAMPLE: Final = 4096
"""Randomness shows early: more characters than these are not looked at."""


def churn(word: str) -> float:
    """Return how often the kind of character (lower, upper, digit) changes, per character.

    Random letters and digits are above 0.4, words and camelCase names below 0.25.
    """
    head = word[:_SAMPLE]
    return len(_CHANGE.findall(head)) / len(head) if head else 0.0


def has_digit(word: str) -> bool:
    """Tell whether *word* has a digit of ASCII."""
    return _DIGIT.search(word) is not None
