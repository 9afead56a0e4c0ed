"""Caches of a compression manager: short forms by content, and texts to retry later."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from refold.tools.report import By

_MOST: Final = 4_096
"""How many texts are cached; the oldest are evicted first."""


@dataclass(frozen=True, slots=True)
class CachedForm:
    """A short form that was found before."""

    short: str
    by: By


class ResultCache:
    """Short forms and failures by the key of their text, bounded, for any number of threads.

    Because short forms are known by content they survive copies of a conversation, and the same
    text is always shown in the same words.
    """

    def __init__(self, clock: Callable[[], float], most: int = _MOST) -> None:
        self._clock = clock
        self._most = most
        self._lock = threading.Lock()
        self._known: OrderedDict[str, CachedForm] = OrderedDict()
        self._backing_off: OrderedDict[str, float] = OrderedDict()

    def find(self, key: str) -> CachedForm | None:
        """Return what is known."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def known(self) -> dict[str, CachedForm]:
        """Return all short forms, the oldest first."""
        with self._lock:
            return dict(self._known)

    def short_of(self, key: str) -> str | None:
        """Return the short form that is known."""
        known = self.find(key)
        return None if known is None else known.short

    def learn(self, key: str, known: CachedForm) -> CachedForm:
        """Keep a short form, and return the one to use: the first that was found stays."""
        with self._lock:
            kept = self._known.setdefault(key, known)
            self._backing_off.pop(key, None)
            _trim(self._known, self._most)
            return kept

    def replace(self, key: str, known: CachedForm) -> None:
        """Keep a short form in the place of the one before."""
        with self._lock:
            self._known[key] = known
            self._known.move_to_end(key)
            _trim(self._known, self._most)

    def back_off(self, key: str, seconds: float = math.inf) -> None:
        """Leave a text alone for a while, or for good."""
        with self._lock:
            self._backing_off[key] = self._clock() + seconds
            self._backing_off.move_to_end(key)
            _trim(self._backing_off, self._most)

    def is_backing_off(self, key: str) -> bool:
        """Tell whether a text is to be left alone."""
        with self._lock:
            return self._clock() < self._backing_off.get(key, -math.inf)


def _trim(entries: OrderedDict[str, CachedForm] | OrderedDict[str, float], most: int) -> None:
    while len(entries) > most:
        entries.popitem(last=False)
