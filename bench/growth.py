"""How the CPU time of a call grows with the size of its input, told from the noise of a machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

SIZES: Final = (20_000, 40_000, 80_000)
MAX_GROWTH: Final = 2.5
"""The most that a time may grow by when the input doubles."""
NOISE_S: Final = 0.004
"""Times below this are not compared: they say more about the machine than about the code."""
_GLANCE: Final = (10_000, 40_000)
_SUSPECT_GROWTH: Final = 6.0
_SUSPECT_S: Final = 0.001
"""What takes four times as much for four times the input, or next to nothing, is not looked at."""
_LOOKS: Final = 5
_PATIENCE_S: Final = 0.5
"""A call that takes longer is not repeated, and larger inputs are not tried."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What a call took at its sizes, and the largest growth between two of them."""

    seconds: tuple[float, ...]
    factor: float

    @property
    def is_slow(self) -> bool:
        """Whether it grew faster than linear time allows."""
        return self.factor > MAX_GROWTH


def measure(call: Callable[[str], object], make: Callable[[int], str]) -> Growth | None:
    """Return how the time of *call* grows; `None` where one glance shows that it does not.

    Only the CPU time of this process counts, and of several looks the least: other programs only
    ever add to it.
    """
    small, large = (_time(call, make(size)) for size in _GLANCE)
    if large < _SUSPECT_S or large < _SUSPECT_GROWTH * small:
        return None
    texts = [make(size) for size in SIZES]
    best: list[float] = [float("inf")] * len(texts)
    growth = Growth((), 0.0)
    for _ in range(_LOOKS):
        for place, text in enumerate(texts[: len(best)]):
            best[place] = min(best[place], _time(call, text))
            if best[place] > _PATIENCE_S:
                del best[place + 1 :]
                break
        factor = max((b / a for a, b in pairwise(best) if b > NOISE_S), default=0.0)
        growth = Growth(tuple(best), factor)
        if not growth.is_slow or best[-1] > _PATIENCE_S:
            break
    return growth


def _time(call: Callable[[str], object], text: str) -> float:
    gc.disable()  # it would look at all that lives, in one of the calls
    try:
        began = time.process_time()
        call(text)
        return time.process_time() - began
    finally:
        gc.enable()
