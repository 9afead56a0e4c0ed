"""How random a run of characters looks."""

from __future__ import annotations

from typing import Final

from refold.lazy import regex

Span = tuple[int, int]
"""Where something begins and ends in a text."""

_CHANGE: Final = regex(r"[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])")
_DIGIT: Final = regex("[0-9]")
_LOWER: Final = regex("[a-z]")
_UPPER: Final = regex("[A-Z]")
_SAMPLE: Final = 4096
"""At most so many characters are looked at: randomness shows early."""


def churn(word: str) -> float:
    """Return how often the kind of character (lower, upper, digit) changes, per character.

    Random letters and digits are above 0.4, words and camelCase names below 0.25.
    """
    head = word[:_SAMPLE]
    return len(_CHANGE.findall(head)) / len(head) if head else 0.0


def has_digit(word: str) -> bool:
    """Tell whether *word* has a digit of ASCII."""
    return _DIGIT.search(word) is not None


def has_lower(word: str) -> bool:
    """Tell whether *word* has a small letter of ASCII."""
    return _LOWER.search(word) is not None


def has_upper(word: str) -> bool:
    """Tell whether *word* has a capital of ASCII."""
    return _UPPER.search(word) is not None
