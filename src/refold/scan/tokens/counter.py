"""What a token counter is, and one that cannot fail."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Protocol, SupportsIndex


class TokenCounter(Protocol):
    """Counts the tokens of a text: any function from a text to a whole number."""

    def __call__(self, text: str, /) -> int:
        """Return the tokens of *text*."""
        ...


class ForgivingCounter:
    """A counter that never fails: what the first one cannot count, another one does."""

    def __init__(self, counter: TokenCounter, fallback: TokenCounter) -> None:
        self._counter: Callable[[str], SupportsIndex] = counter
        """Numbers such as those of NumPy are no `int`."""
        self._fallback = fallback
        self.failures = 0
        """How many texts the counter could not count; the fallback did."""

    def __call__(self, text: str, /) -> int:
        """Return the tokens of *text*."""
        try:
            count = index(self._counter(text))
        except Exception:  # noqa: BLE001 - the counter may be the caller's own
            count = -1
        if count >= 0:
            return count
        self.failures += 1
        return self._fallback(text)
