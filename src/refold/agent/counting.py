"""Counting each text once, however often the conversation it belongs to comes by."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import partial
from typing import Any, Final

from refold.tokens.counter import TokenCounter

_MAX_CHARS: Final = 8_000_000
"""Text to remember at most, all counted texts together."""


class RememberingCounter:
    """A counter that keeps what it has counted, up to a bound; least recently used goes first.

    A growing conversation then costs as much counting as what is new in it.
    """

    def __init__(self, counter: TokenCounter, *, max_chars: int = _MAX_CHARS) -> None:
        self._counter = counter
        self._max_chars = max_chars
        self._chars = 0
        self._known: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

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

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the counter itself; what it has counted it counts again."""
        return partial(type(self), max_chars=self._max_chars), (self._counter,)

    @property
    def remembered(self) -> int:
        """How many texts it remembers. No `__len__`: an empty counter must not be false."""
        return len(self._known)
