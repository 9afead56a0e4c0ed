"""Spend a budget on the candidates that add most: greedy, lazy, and never twice for the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

_EPSILON: Final = 1e-12
_SOMETHING: Final = 0.002
"""What a candidate is worth even if all its words are there already: recent ones go first."""
_EXTRA: Final = 6.0
"""Tokens that every choice costs beside its text, so that crumbs do not win."""


@dataclass(slots=True)
class Candidate:
    """A piece of a text that may be shown."""

    text: int
    """Which text it is a piece of."""
    start: int
    end: int
    cost: float
    rows: Collection[int] = ()
    """The items it shows."""
    credit: float = 1.0
    """How much of their worth it keeps."""
    factor: float = 1.0
    must: bool = False


class Choice:
    """The candidates chosen so far, and what they cover."""

    def __init__(
        self, candidates: Sequence[Candidate], worths: Sequence[float], entry: Sequence[float]
    ) -> None:
        self._candidates = candidates
        self._worths = worths
        self._entry = entry
        """What it costs to show anything of a text at all."""
        self._covered: list[float] = [0.0] * len(worths)
        levels = {candidate.credit for candidate in candidates}
        self._left = {credit: [credit * worth for worth in worths] for credit in levels}
        """What each item would still add, for each of the few credits that candidates have."""
        self._opened: set[int] = set()
        self._heap: list[tuple[float, int]] = []
        self.chosen: list[int] = []
        """In the order of choosing."""

    def cover(self, rows: Iterable[int], credit: float = 1.0) -> None:
        """Note that these items are shown, with that much of their worth."""
        covered, worths, columns = self._covered, self._worths, self._left.items()
        for row in rows:
            if credit > covered[row]:
                covered[row] = credit
                for most, left in columns:
                    left[row] = (most - credit) * worths[row] if most > credit else 0.0

    def offer(self, numbers: Iterable[int]) -> None:
        """Put candidates up for choice, in place of those that were."""
        taken = set(self.chosen)
        gain = self._gain()
        self._heap = [(-gain(n), -n) for n in numbers if n not in taken]
        heapify(self._heap)

    def spend(self, budget: float) -> float:
        """Choose the best candidates for *budget* tokens; return what is left of it."""
        heap, gain = self._heap, self._gain()
        candidates = self._candidates
        passed: list[tuple[float, int]] = []
        least = budget
        while heap and budget > 1:
            known, negative = heappop(heap)
            if candidates[-negative].cost > budget:  # nor will it ever fit: budgets only shrink
                passed.append((known, negative))
                if budget < least / 2:
                    least = budget
                    heap = self._drop_dear(heap, budget, passed)
                continue
            now = gain(-negative)
            if heap and now + _EPSILON < -heap[0][0]:  # no longer the best: back in line
                heappush(heap, (-now, negative))
            elif self._price(-negative) <= budget:
                budget -= self._take(-negative)
            else:
                passed.append((-now, negative))
        self._heap = heap + passed
        heapify(self._heap)
        return budget

    def _drop_dear(
        self, heap: list[tuple[float, int]], budget: float, dropped: list[tuple[float, int]]
    ) -> list[tuple[float, int]]:
        """Return the heap of what costs no more than *budget*, and add the rest to *dropped*."""
        candidates = self._candidates
        dropped += [entry for entry in heap if candidates[-entry[1]].cost > budget]
        left = [entry for entry in heap if candidates[-entry[1]].cost <= budget]
        heapify(left)
        return left

    def undo(self, tokens: float) -> None:
        """Give back the latest choices until *tokens* are free; what they covered stays covered."""
        while self.chosen and tokens > 0:
            tokens -= self._candidates[self.chosen.pop()].cost

    def _take(self, number: int) -> float:
        price = self._price(number)
        candidate = self._candidates[number]
        self.cover(candidate.rows, candidate.credit)
        self._opened.add(candidate.text)
        self.chosen.append(number)
        return price

    def _price(self, number: int) -> float:
        candidate = self._candidates[number]
        opened = candidate.text in self._opened
        return candidate.cost if opened else candidate.cost + self._entry[candidate.text]

    def _gain(self) -> Callable[[int], float]:
        """Return the function that tells what a candidate would add per token."""
        candidates = self._candidates
        left = {credit: column.__getitem__ for credit, column in self._left.items()}

        def gain(number: int) -> float:
            candidate = candidates[number]
            added = sum(map(left[candidate.credit], candidate.rows), _SOMETHING)
            return candidate.factor * added / (candidate.cost + _EXTRA)

        return gain
