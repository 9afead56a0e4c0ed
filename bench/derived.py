"""Tries inputs derived from the package's own patterns on each pattern."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from growth import Growth, measure
from pattern_inputs import Input, derive
from pattern_list import Written, list_patterns

_MOST_SLOW: Final = 2
"""What is slow on so many inputs is not tried on more."""
_PATTERN_GLANCE: Final = 8_000
"""A pattern that looks at all that follows from each character takes some 30 ms for so many."""
_AT_MOST: Final = {
    ("scan/secrets.py", "_PLACEHOLDER"): 1_000,
}
"""Patterns of values that are no longer than so many characters."""


@dataclass(frozen=True, slots=True)
class Tried:
    """One pattern, on one input."""

    what: str
    input: Input
    growth: Growth | None
    """None where one glance showed that it does not grow."""

    @property
    def is_slow(self) -> bool:
        """Whether time grew too fast."""
        return self.growth is not None and self.growth.is_slow

    def __str__(self) -> str:
        taken = () if self.growth is None else self.growth.seconds
        shown = "/".join(f"{1000 * seconds:.1f}" for seconds in taken)
        return f"{self.what} took {shown} ms on {self.input}"


def try_patterns(share: float = 1.0, seed: int = 0) -> Iterator[Tried]:
    """Try each pattern of the package on a *share* of the inputs derived from it."""
    known: set[tuple[object, ...]] = set()
    chance = random.Random(seed)
    for written in list_patterns():
        key = (written.pattern, written.flags, written.asked)
        if key in known:
            continue
        known.add(key)
        inputs = derive(written.compile(), seed)
        inputs = chance.sample(inputs, max(1, int(share * len(inputs))))
        for how in written.asked:
            call = _asking(written, how)
            yield from _try_on(f"{written.place} .{how}", call, inputs, glance=_PATTERN_GLANCE)


def _try_on(
    what: str, call: Callable[[str], object], inputs: list[Input], **how: int
) -> Iterator[Tried]:
    slow = 0
    for one in inputs:
        tried = Tried(what, one, measure(call, one.make, **how))
        yield tried
        slow += tried.is_slow
        if slow == _MOST_SLOW:
            return


def _asking(written: Written, how: str) -> Callable[[str], object]:
    """Return a function that asks a pattern as the package does."""
    pattern = written.compile()
    file, _, name = written.place.partition(":")
    most = _AT_MOST.get((file, name.partition(" ")[2]))
    ask: Callable[..., Any] = getattr(pattern, how)
    if how == "finditer":
        ask = partial(_find_all, ask)

    def call(text: str) -> None:
        given = text.encode("latin-1", "replace") if written.is_bytes else text
        if most is None:
            ask(given)
        else:
            for start in range(0, len(given), most):
                ask(given, start, start + most)

    return call


def _find_all(finditer: Callable[..., Iterator[object]], *given: Any) -> None:
    deque(finditer(*given), maxlen=0)
