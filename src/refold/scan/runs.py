"""Long unbroken runs of characters, and how random they look: what tells keys from names."""

from __future__ import annotations

import re
import string
from typing import Final

from refold.scan.plain_bytes import RunTest

Span = tuple[int, int]
"""Where something begins and ends in a text."""

_ALPHANUMERIC: Final = string.ascii_letters + string.digits
KEY_LENGTH: Final = 20
"""An access key of AWS has 20 characters; shorter runs are mostly names of things."""
KEY_RUN: Final = RunTest(_ALPHANUMERIC + "_-", KEY_LENGTH)
"""Characters that a credential is made of, the least that any of them has."""
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
