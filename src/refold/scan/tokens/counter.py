"""What a token counter is, one that cannot fail, and one that remembers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from operator import index
from typing import Final, Protocol, SupportsIndex

_MAX_CHARS: Final = 8_000_000
"""Text to remember at most, all counted texts together."""


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


class RememberingCounter:
    """A counter that keeps what it has counted, up to a bound; least recently used goes first.

    A growing conversation then costs as much counting as what is new in it.
    """

    def __init__(self, counter: TokenCounter, *, max_chars: int = _MAX_CHARS) -> None:
        self._counter = counter
        self._max_chars = max_chars
        self._chars = 0
        self._known: OrderedDict[str, int] = OrderedDict()
        # Reentrant: a signal handler may count in the thread that it interrupts inside the lock.
        self._lock = threading.RLock()

    def __call__(self, text: str) -> int:
        """Return the tokens of *text*."""
        with self._lock:
            known = self._known.get(text)
            if known is not None:
                self._known.move_to_end(text)
                return known
        count = self._counter(text)  # outside the lock: it may be slow, or raise
        with self._lock:
            if text not in self._known and len(text) <= self._max_chars:
                self._known[text] = count
                self._chars += len(text)
                while self._chars > self._max_chars:
                    self._chars -= len(self._known.popitem(last=False)[0])
        return count

    @property
    def remembered(self) -> int:
        """How many texts it remembers. No `__len__`: an empty counter must not be false."""
        return len(self._known)
