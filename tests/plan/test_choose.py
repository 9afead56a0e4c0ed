"""The lazy choice is the plain greedy one; a budget is never overspent."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from refold.plan.choose import Candidates, Choice

Draw = Callable[[st.SearchStrategy[Any]], Any]


class Candidate(NamedTuple):
    """One row of the columns."""

    text: int
    start: int
    end: int
    cost: float
    rows: Collection[int] = ()
    credit: float = 1.0
    factor: float = 1.0
    must: bool = False


def columns(candidates: Sequence[Candidate]) -> Candidates:
    """Turn rows into columns."""
    return Candidates(*map(list, zip(*candidates, strict=True)))


@dataclass(frozen=True)
class Market:
    """Candidates, what items are worth, and what it costs to open a text."""

    candidates: list[Candidate]
    relevance: list[float]
    opening_costs: list[float]
    budget: float
    covered: set[int] = field(default_factory=set)

    def choice(self) -> Choice:
        choice = Choice(columns(self.candidates), self.relevance, self.opening_costs)
        choice.cover(self.covered)
        return choice

    def paid(self, chosen: Sequence[int]) -> float:
        """Return what *chosen* costs: each its own price, and each text once."""
        texts = {self.candidates[number].text for number in chosen}
        own = sum(self.candidates[number].cost for number in chosen)
        return own + sum(self.opening_costs[text] for text in texts)


@st.composite
def markets(draw: Draw) -> Market:
    """Random markets without ties: two equally good choices may come in any order."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    items, texts = draw(st.integers(1, 25)), draw(st.integers(1, 5))
    candidates = [
        Candidate(
            text=rng.randrange(texts),
            start=n,
            end=n + 1,
            cost=rng.uniform(1, 20),
            rows=set(rng.sample(range(items), rng.randint(0, items))),
            credit=rng.uniform(0.2, 1.0),
            factor=rng.uniform(0.2, 3.0),
        )
        for n in range(draw(st.integers(0, 40)))
    ]
    return Market(
        candidates,
        relevance=[rng.random() for _ in range(items)],
        opening_costs=[rng.uniform(0, 4) for _ in range(texts)],
        budget=rng.uniform(0, 200),
        covered=set(rng.sample(range(items), rng.randint(0, items // 2))),
    )


def greedy(market: Market) -> list[int]:
    """Choose as the docstrings say, looking at everything anew in every step."""
    covered = dict.fromkeys(market.covered, 1.0)
    chosen: list[int] = []
    left = list(range(len(market.candidates)))
    budget = market.budget

    def gain(number: int) -> float:
        candidate = market.candidates[number]
        more = 0.002 + sum(
            max(0.0, candidate.credit - covered.get(row, 0.0)) * market.relevance[row]
            for row in candidate.rows
        )
        return candidate.factor * more / (candidate.cost + 6.0)

    while left and budget > 1:
        best = max(left, key=gain)
        left.remove(best)
        price = market.paid([*chosen, best]) - market.paid(chosen)
        if price > budget:
            continue
        budget -= price
        chosen.append(best)
        candidate = market.candidates[best]
        for row in candidate.rows:
            covered[row] = max(covered.get(row, 0.0), candidate.credit)
    return chosen


@given(markets())
def test_lazy_is_plain_greedy(market: Market) -> None:
    choice = market.choice()
    choice.offer(range(len(market.candidates)))
    choice.spend(market.budget)
    assert choice.chosen == greedy(market)


@given(markets())
def test_a_budget_is_never_overspent(market: Market) -> None:
    choice = market.choice()
    choice.offer(range(len(market.candidates)))
    left = choice.spend(market.budget)
    assert abs(market.budget - left - market.paid(choice.chosen)) < 1e-6
    assert left > -1e-6
    assert len(set(choice.chosen)) == len(choice.chosen)


@given(markets(), st.floats(0, 100))
def test_what_was_too_dear_may_be_chosen_later(market: Market, more: float) -> None:
    choice = market.choice()
    choice.offer(range(len(market.candidates)))
    left = choice.spend(market.budget)
    left = choice.spend(left + more)
    for number in set(range(len(market.candidates))) - set(choice.chosen):
        price = market.paid([*choice.chosen, number]) - market.paid(choice.chosen)
        assert left <= 1 or price > left - 1e-6


@given(markets())
def test_what_was_chosen_is_not_offered_again(market: Market) -> None:
    choice = market.choice()
    choice.offer(range(0, len(market.candidates), 2))
    left = choice.spend(market.budget)
    assert all(number % 2 == 0 for number in choice.chosen)
    assert abs(market.budget - left - market.paid(choice.chosen)) < 1e-6
    first = list(choice.chosen)
    choice.offer(range(len(market.candidates)))
    choice.spend(1e9)
    assert choice.chosen[: len(first)] == first
    assert sorted(choice.chosen) == list(range(len(market.candidates)))


@given(markets(), st.floats(0, 100))
def test_the_latest_choices_are_given_back_first(market: Market, tokens: float) -> None:
    choice = market.choice()
    choice.offer(range(len(market.candidates)))
    choice.spend(market.budget)
    before = list(choice.chosen)
    choice.undo(tokens)
    kept = choice.chosen
    assert kept == before[: len(kept)]
    freed = sum(market.candidates[number].cost for number in before[len(kept) :])
    assert freed >= tokens or not kept
    if len(kept) < len(before):
        assert freed - market.candidates[before[len(kept)]].cost < tokens


def test_the_same_is_not_paid_for_twice() -> None:
    twins = [Candidate(text=n, start=0, end=9, cost=10.0, rows={0, 1}) for n in range(2)]
    other = Candidate(text=2, start=0, end=9, cost=10.0, rows={2})
    choice = Choice(columns([*twins, other]), [1.0, 1.0, 0.1], [0.0] * 3)
    choice.offer(range(3))
    choice.spend(20.0)
    assert len(set(choice.chosen) & {0, 1}) == 1
    assert 2 in choice.chosen


def test_of_equals_the_later_one_goes_first() -> None:
    twins = [Candidate(text=0, start=n, end=n + 1, cost=5.0) for n in range(4)]
    choice = Choice(columns(twins), [], [0.0])
    choice.offer(range(4))
    choice.spend(10.0)
    assert choice.chosen == [3, 2]


def test_what_costs_all_that_is_left_is_still_chosen() -> None:
    """The dear ones are passed by, and with them goes nothing that fits exactly."""
    dear = [Candidate(0, n, n + 1, 100.0 + n, (n,)) for n in range(4)]
    fits = Candidate(0, 4, 5, 10.0, (4,))
    choice = Choice(columns([*dear, fits]), [9_000.0] * 4 + [1.0], [0.0])
    choice.offer(range(5))
    assert choice.spend(10.0) == 0.0
    assert choice.chosen == [4]


def test_what_only_leads_others_is_never_chosen_for_itself() -> None:
    rows = [Candidate(0, 0, 1, 1.0, [0], factor=0.0), Candidate(0, 1, 2, 1.0, [1])]
    choice = Choice(columns(rows), [9.0, 1.0], [0.0])
    choice.take([0], 50)
    choice.pick([0, 1], 50)
    assert choice.chosen == [1]
