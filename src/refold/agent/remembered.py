"""What a compression manager remembers: short forms by content, and what to leave alone."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from refold.agent.manager_report import By

_MOST: Final = 4_096
"""How many texts are remembered; the oldest are forgotten first."""


@dataclass(frozen=True, slots=True)
class Known:
    """A short form that was found before."""

    short: str
    by: By


class Remembered:
    """Short forms and failures by the key of their text, bounded, for any number of threads.

    Because short forms are known by content they survive copies of a conversation, and the same
    text is always shown in the same words.
    """

    def __init__(self, clock: Callable[[], float], most: int = _MOST) -> None:
        self._clock = clock
        self._most = most
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._resting: OrderedDict[str, float] = OrderedDict()

    def find(self, key: str) -> Known | None:
        """Return what is known."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def known(self) -> dict[str, Known]:
        """Return all short forms, the oldest first."""
        with self._lock:
            return dict(self._known)

    def short_of(self, key: str) -> str | None:
        """Return the short form that is known."""
        known = self.find(key)
        return None if known is None else known.short

    def learn(self, key: str, known: Known) -> Known:
        """Keep a short form, and return the one to use: the first that was found stays."""
        with self._lock:
            kept = self._known.setdefault(key, known)
            self._resting.pop(key, None)
            _trim(self._known, self._most)
            return kept

    def replace(self, key: str, known: Known) -> None:
        """Keep a short form in the place of the one before."""
        with self._lock:
            self._known[key] = known
            self._known.move_to_end(key)
            _trim(self._known, self._most)

    def rest(self, key: str, seconds: float = math.inf) -> None:
        """Leave a text alone for a while, or for good."""
        with self._lock:
            self._resting[key] = self._clock() + seconds
            self._resting.move_to_end(key)
            _trim(self._resting, self._most)

    def is_resting(self, key: str) -> bool:
        """Tell whether a text is to be left alone."""
        with self._lock:
            return self._clock() < self._resting.get(key, -math.inf)


def _trim(entries: OrderedDict[str, Known] | OrderedDict[str, float], most: int) -> None:
    while len(entries) > most:
        entries.popitem(last=False)
