"""Spend a budget on the candidates that add most: greedy, lazy, and never twice for the same."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, MutableSequence, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import inf
from typing import Final

from refold.kinds import Grade
from refold.plan.pieces import IDEOGRAPHS
from refold.scan.truncate import cut

_EPSILON: Final = 1e-12
"""Sums of the same gains in another order differ by less: they are ties."""
BASE_GAIN: Final = 0.002
"""Gain of a candidate whose words are all there already: recent ones go first."""
OVERHEAD_TOKENS: Final = 6.0
"""Tokens that every choice costs beside its text, so that crumbs do not win."""

_Entry = tuple[float, int]
"""The last known gain of a candidate, and its number: both negated, so that the best sorts first,
and of equals the latest."""
_LAST: Final[_Entry] = (inf, 0)
"""Sorts behind all others."""


# Arrays hold plain numbers, not objects: less memory to fetch on random access, and nothing for the
# garbage collector to visit.
Ints = MutableSequence[int]
Floats = MutableSequence[float]
FEW_TOKENS: Final = 30
"""Up to this much room, one contiguous span shows more than separate pieces do."""
_MOST_CHARS: Final = 20 * FEW_TOKENS
"""More characters than any text has in so many tokens: bounds the search."""


def _ints() -> Ints:
    return array("q")


def _floats() -> Floats:
    return array("d")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The pieces of texts that may be shown, as columns; a candidate is a row of them."""

    text: Ints = field(default_factory=_ints)
    """The number of the text that it is a piece of."""
    start: Ints = field(default_factory=_ints)
    end: Ints = field(default_factory=_ints)
    cost: Floats = field(default_factory=_floats)
    """Its tokens."""
    rows: list[Collection[int]] = field(default_factory=list)
    """The items in it, by their rows in the index."""
    credit: Floats = field(default_factory=_floats)
    """The share of their relevance that it keeps: items need context."""
    factor: Floats = field(default_factory=_floats)
    """What its gain is multiplied by; with 0 it is never chosen for itself."""
    is_required: list[bool] = field(default_factory=list)
    """Whether it has priority: it tells of an error or how something ended."""
    heading: Ints = field(default_factory=_ints)
    """The candidate that is shown along with it; itself, if it needs none."""
    grade: list[Grade] = field(default_factory=list)

    def __len__(self) -> int:
        """Return the number of candidates."""
        return len(self.text)


class Choice:
    """The candidates chosen so far, and the items they cover.

    *relevance* is that of each item, by its row; *opening_costs* are the tokens that showing
    anything of a text costs on top, by the number of the text.
    """

    def __init__(
        self, candidates: Candidates, relevance: Sequence[float], opening_costs: Sequence[float]
    ) -> None:
        self._candidates = candidates
        self._relevance = relevance
        self._opening_costs = opening_costs
        self._covered: list[float] = [0.0] * len(relevance)
        """The credit with which each item is shown already."""
        self._left = list(relevance)
        """What each item would still add to a candidate with full credit."""
        self._gain = self._gain_function()
        self._opened: set[int] = set()
        self._offered: list[int] = []
        """Candidates whose gain is the one they were offered with; the best comes last."""
        self._gains: dict[int, float] = {}
        """The gain of each when it was offered."""
        self._again: list[_Entry] = []
        """A heap of those re-evaluated since; most go in far behind its head and stay there."""
        self.chosen: list[int] = []
        """In the order of choosing."""

    def cover(self, rows: Iterable[int], credit: float = 1.0) -> None:
        """Note that these items are shown, with this share of their relevance."""
        covered, relevance, left = self._covered, self._relevance, self._left
        for row in rows:
            if credit > covered[row]:
                covered[row] = credit
                left[row] = (1.0 - credit) * relevance[row]

    def gains_left(self) -> list[float]:
        """Return what each candidate would add, regardless of its cost."""
        left = self._left.__getitem__
        return [sum(map(left, rows)) for rows in self._candidates.rows]

    def gain(self, number: int) -> float:
        """Return what a candidate would add per token."""
        return self._gain(number)

    def added(self, number: int) -> list[tuple[float, int]]:
        """Return what each item of a candidate would add, with its row."""
        covered, relevance = self._covered, self._relevance
        credit = self._candidates.credit[number]
        return [
            (max(0.0, credit - covered[row]) * relevance[row], row)
            for row in self._candidates.rows[number]
        ]

    def offer(self, numbers: Iterable[int]) -> None:
        """Let `spend` choose among these candidates, and no longer among those offered before."""
        taken, factors = set(self.chosen), self._candidates.factor
        self._offered = [n for n in numbers if n not in taken and factors[n]]
        self._gains = dict(zip(self._offered, map(self._gain, self._offered), strict=True))
        self._offered.sort(key=self._gains.__getitem__)
        self._again = []

    def take(self, numbers: Iterable[int], budget: float) -> float:
        """Choose these in their order, each if it fits; return what is left of *budget*."""
        taken, factors = set(self.chosen), self._candidates.factor
        for number in numbers:
            if number not in taken and factors[number] and self._price(number) <= budget:
                budget -= self._take(number)
        return budget

    def pick(self, numbers: Iterable[int], budget: float) -> float:
        """Choose the best of these for *budget* tokens; return what is left of it."""
        self.offer(numbers)
        return self.spend(budget)

    def spend(self, budget: float) -> float:
        """Choose the best of the offered candidates for *budget* tokens; return what is left.

        Gains only fall while items get covered, so a candidate is re-evaluated only when it would
        be next, and goes back in line if it is no longer the best.
        """
        offered, again, gain, costs = self._offered, self._again, self._gain, self._candidates.cost
        gains = self._gains
        passed: list[_Entry] = []
        least = inf
        first = self._first_offered()
        while budget > 1 and (offered or again):
            if not again or first < again[0]:
                best = first
                offered.pop()
                first = (-gains[offered[-1]], -offered[-1]) if offered else _LAST
            else:
                best = heappop(again)
            number = -best[1]
            if costs[number] > budget:
                passed.append(best)
                if budget < least / 2:
                    least = budget
                    passed += self._drop_unaffordable(budget)
                    first = self._first_offered()
                continue
            now = gain(number)
            tie = -(now + _EPSILON)
            if first[0] < tie or (again and again[0][0] < tie):
                heappush(again, (-now, -number))  # no longer the best
            elif self._price(number) <= budget:
                budget -= self._take(number)
            else:
                passed.append((-now, -number))
        again += passed
        heapify(again)
        return budget

    def _first_offered(self) -> _Entry:
        if not self._offered:
            return _LAST
        number = self._offered[-1]
        return -self._gains[number], -number

    def _drop_unaffordable(self, budget: float) -> list[_Entry]:
        """Drop and return whatever costs more than *budget*, which only shrinks."""
        costs, gains = self._candidates.cost, self._gains
        dropped = [(-gains[n], -n) for n in self._offered if costs[n] > budget]
        if dropped:
            self._offered[:] = [n for n in self._offered if costs[n] <= budget]
        left: list[_Entry] = []
        for entry in self._again:
            (left if costs[-entry[1]] <= budget else dropped).append(entry)
        self._again[:] = left
        heapify(self._again)
        return dropped

    def undo(self, tokens: float) -> None:
        """Undo the latest choices until *tokens* are free; what they covered stays covered."""
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
        return cost if text in self._opened else cost + self._opening_costs[text]

    def _gain_function(self) -> Callable[[int], float]:
        """Return the function that computes what a candidate would add per token."""
        candidates, covered, relevance = self._candidates, self._covered, self._relevance
        rows, credits_ = candidates.rows, candidates.credit
        costs, factors = candidates.cost, candidates.factor
        left = self._left.__getitem__

        def gain(number: int) -> float:
            credit = credits_[number]
            if credit == 1.0:  # most have that
                added = sum(map(left, rows[number]), BASE_GAIN)
            else:
                added = BASE_GAIN
                for row in rows[number]:
                    if credit > covered[row]:
                        added += (credit - covered[row]) * relevance[row]
            return factors[number] * added / (costs[number] + OVERHEAD_TOKENS)

        return gain


def best_span(candidates: Candidates, gains: Sequence[float], room: Sequence[float]) -> int | None:
    """Return the candidate with which the best span begins that fits its text's *room*.

    The span with the highest total of *gains* wins, not the highest per token: it fills the room in
    any case.
    """
    spent = [0.0, *accumulate(candidates.cost)]
    gained = [0.0, *accumulate(gains)]
    best, found = 0.0, None
    after = len(candidates)
    for first in reversed(range(len(candidates))):
        if first + 1 < len(candidates) and candidates.text[first + 1] != candidates.text[first]:
            after = first + 1
        limit = spent[first] + max(0.0, room[candidates.text[first]])
        last = bisect_right(spent, limit, first, after + 1) - 1
        total = gained[last] - gained[first]
        if last < after:
            total += gains[last] * (limit - spent[last]) / (spent[last + 1] - spent[last])
        if total > best:
            best, found = total, first
    return found


def fit_end(text: str, start: int, fits: Callable[[int], bool]) -> int:
    """Return where a span from *start* ends: the last place between two words that *fits*."""
    low, high = 0, min(len(text) - start, _MOST_CHARS)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_between_words(text, start, start + middle)):
            low = middle
        else:
            high = middle - 1
    return _between_words(text, start, start + low)


def _between_words(text: str, start: int, end: int) -> int:
    """Return the last place up to *end* that splits no word, number or visible character."""
    if end == len(text):
        return end
    end = start + len(cut(text[start : end + 1], end - start))
    while end > start and _is_solid(text[end - 1]) and _is_solid(text[end]):
        end -= 1
    return end


def _is_solid(char: str) -> bool:
    return char < IDEOGRAPHS and not char.isspace()
