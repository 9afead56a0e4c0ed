"""Long unbroken runs of characters: where data and keys can be, and how random they look."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Final

Span = tuple[int, int]
"""Where something begins and ends in a text."""


class RunTest:
    """A test for long runs that is ten times faster than a pattern that finds nothing.

    The text is mapped byte by byte to "one of the characters" or "another one"; then a run is a
    plain substring. The characters must be ASCII; *ignored* ones may stand between them.
    """

    def __init__(self, characters: str, length: int, ignored: bytes = b"") -> None:
        members = characters.encode("ascii")
        self._table = bytes(1 if byte in members else 0 for byte in range(256))
        self._run = b"\x01" * length
        self._ignored = ignored

    def holds(self, plain: bytes) -> bool:
        """Tell whether the text behind *plain* has such a run."""
        mask = plain.translate(self._table, self._ignored)
        return mask.find(self._run) >= 0  # faster than `in` for bytes

    def spans(self, plain: bytes) -> Iterator[Span]:
        """Yield start and end of every such run without ignored characters, in reading order."""
        mask = plain.translate(self._table)
        at = mask.find(self._run)
        while at >= 0:
            end = mask.find(b"\x00", at)
            if end < 0:
                end = len(mask)
            yield at, end
            at = mask.find(self._run, end)


KEY_LENGTH: Final = 20
"""An access key of AWS has 20 characters; shorter runs are mostly names of things."""
KEY_RUN: Final = RunTest(f"{string.ascii_letters}{string.digits}_-", KEY_LENGTH)
"""Characters that a credential is made of, the least that any of them has."""

_CHANGE: Final = re.compile(r"[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])")
_DIGIT: Final = re.compile("[0-9]")
_LOWER: Final = re.compile("[a-z]")
_UPPER: Final = re.compile("[A-Z]")
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
