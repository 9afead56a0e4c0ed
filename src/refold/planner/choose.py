"""Spend a budget on the candidates that add most: greedy, lazy, and never twice for the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import inf
from typing import Final

_EPSILON: Final = 1e-12
_SOMETHING: Final = 0.002
"""What a candidate is worth even if all its words are there already: recent ones go first."""
_EXTRA: Final = 6.0
"""Tokens that every choice costs beside its text, so that crumbs do not win."""

_Entry = tuple[float, int]
"""What a candidate added when it was last looked at, and its number.

Both are negative, so that the best is the least, and of equals the latest."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The pieces of texts that may be shown; the columns share their numbers."""

    text: list[int] = field(default_factory=list)
    """Which text it is a piece of."""
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    rows: list[Collection[int]] = field(default_factory=list)
    """The items it shows."""
    credit: list[float] = field(default_factory=list)
    """How much of their worth it keeps."""
    factor: list[float] = field(default_factory=list)
    must: list[bool] = field(default_factory=list)

    def __len__(self) -> int:
        """Count the candidates."""
        return len(self.text)


class Choice:
    """The candidates chosen so far, and what they cover."""

    def __init__(
        self, candidates: Candidates, worths: Sequence[float], entry: Sequence[float]
    ) -> None:
        self._candidates = candidates
        self._worths = worths
        self._entry = entry
        """What it costs to show anything of a text at all."""
        self._covered: list[float] = [0.0] * len(worths)
        levels = set(candidates.credit)
        self._left = {credit: [credit * worth for worth in worths] for credit in levels}
        """What each item would still add, for each of the few credits that candidates have."""
        self._gain = self._gain_function()
        self._opened: set[int] = set()
        self._offered: list[_Entry] = []
        """Not looked at since they were offered; the best comes last."""
        self._again: list[_Entry] = []
        """Looked at since: a heap. Most go in far behind its head, and never come out again."""
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
        gain = self._gain
        self._offered = [(-gain(n), -n) for n in numbers if n not in taken]
        self._offered.sort(reverse=True)
        self._again = []

    def spend(self, budget: float) -> float:
        """Choose the best candidates for *budget* tokens; return what is left of it."""
        offered, again = self._offered, self._again
        gain, costs = self._gain, self._candidates.cost
        passed: list[_Entry] = []
        least = inf
        while budget > 1 and (offered or again):
            is_fresh = offered and (not again or offered[-1] < again[0])
            best = offered.pop() if is_fresh else heappop(again)
            number = -best[1]
            if costs[number] > budget:
                passed.append(best)
                if budget < least / 2:
                    least = budget
                    passed += self._drop_dear(budget)
                continue
            now = gain(number)
            tie = -(now + _EPSILON)
            if (offered and offered[-1][0] < tie) or (again and again[0][0] < tie):
                heappush(again, (-now, -number))  # no longer the best: back in line
            elif self._price(number) <= budget:
                budget -= self._take(number)
            else:
                passed.append((-now, -number))
        again += passed
        heapify(again)
        return budget

    def _drop_dear(self, budget: float) -> list[_Entry]:
        """Drop whatever costs more than *budget*, and return it.

        It will never fit: budgets only shrink.
        """
        costs = self._candidates.cost
        dropped: list[_Entry] = []
        for line in (self._offered, self._again):
            left: list[_Entry] = []
            for entry in line:
                (left if costs[-entry[1]] <= budget else dropped).append(entry)
            line[:] = left
        heapify(self._again)
        return dropped

    def undo(self, tokens: float) -> None:
        """Give back the latest choices until *tokens* are free; what they covered stays covered."""
        costs = self._candidates.cost
        while self.chosen and tokens > 0:
            tokens -= costs[self.chosen.pop()]

    def _take(self, number: int) -> float:
        price = self._price(number)
        candidates = self._candidates
        self.cover(candidates.rows[number], candidates.credit[number])
        self._opened.add(candidates.text[number])
        self.chosen.append(number)
        return price

    def _price(self, number: int) -> float:
        text, cost = self._candidates.text[number], self._candidates.cost[number]
        return cost if text in self._opened else cost + self._entry[text]

    def _gain_function(self) -> Callable[[int], float]:
        """Return the function that tells what a candidate would add per token."""
        candidates = self._candidates
        rows, costs, factors = candidates.rows, candidates.cost, candidates.factor
        left = {credit: column.__getitem__ for credit, column in self._left.items()}
        still = list(map(left.__getitem__, candidates.credit))

        def gain(number: int) -> float:
            added = sum(map(still[number], rows[number]), _SOMETHING)
            return factors[number] * added / (costs[number] + _EXTRA)

        return gain
