"""Spend a budget on the candidates that add most: greedy, lazy, and never twice for the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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
    rows: set[int] = field(default_factory=set)
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
        self._opened: set[int] = set()
        self._heap: list[tuple[float, int]] = []
        self.chosen: list[int] = []
        """In the order of choosing."""

    def cover(self, rows: Iterable[int]) -> None:
        """Note that these items are shown anyway."""
        for row in rows:
            self._covered[row] = 1.0

    def take(self, numbers: Iterable[int], budget: float) -> float:
        """Choose these in the order given while *budget* lasts; return what is left of it."""
        for number in numbers:
            price = self._price(number)
            if price <= budget:
                budget -= price
                self._take(number)
        return budget

    def offer(self, numbers: Iterable[int]) -> None:
        """Put candidates up for choice, in place of those that were."""
        taken = set(self.chosen)
        self._heap = [(-self._gain(n), -n) for n in numbers if n not in taken]
        heapify(self._heap)

    def spend(self, budget: float) -> float:
        """Choose the best candidates for *budget* tokens; return what is left of it."""
        heap = self._heap
        passed: list[tuple[float, int]] = []
        while heap and budget > 1:
            _, negative = heappop(heap)
            now = self._gain(-negative)
            if heap and now + _EPSILON < -heap[0][0]:  # no longer the best: back in line
                heappush(heap, (-now, negative))
            elif self._price(-negative) <= budget:
                budget -= self._take(-negative)
            else:
                passed.append((-now, negative))
        for entry in passed:
            heappush(heap, entry)
        return budget

    def undo(self, tokens: float) -> None:
        """Give back the latest choices until *tokens* are free; what they covered stays covered."""
        while self.chosen and tokens > 0:
            tokens -= self._candidates[self.chosen.pop()].cost

    def _take(self, number: int) -> float:
        price = self._price(number)
        candidate = self._candidates[number]
        covered = self._covered
        credit = candidate.credit
        for row in candidate.rows:
            if credit > covered[row]:  # noqa: PLR1730 - twice as fast as max()
                covered[row] = credit
        self._opened.add(candidate.text)
        self.chosen.append(number)
        return price

    def _price(self, number: int) -> float:
        candidate = self._candidates[number]
        opened = candidate.text in self._opened
        return candidate.cost if opened else candidate.cost + self._entry[candidate.text]

    def _gain(self, number: int) -> float:
        """Return what *number* would add per token."""
        candidate = self._candidates[number]
        covered, worths = self._covered, self._worths
        credit, gain = candidate.credit, _SOMETHING
        for row in candidate.rows:
            more = credit - covered[row]
            if more > 0.0:
                gain += more * worths[row]
        return candidate.factor * gain / (candidate.cost + _EXTRA)
