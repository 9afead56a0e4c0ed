"""`Accounting`: nothing is spent unseen, and not more than allowed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from refold.errors import AnswerError, ConfigError, RefoldError, SpendingError
from refold.llm.summarizers.accounting import Accounting
from refold.llm.summarizers.base import Summarizer, Summary, Usage
from tests.llm.summarizers.contract import (
    PAID,
    Echo,
    ForeignError,
    Gate,
    Scripted,
    SummarizerContract,
    ask,
    caught,
    run,
    run_in_threads,
    until,
)


class TestAccounting(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Accounting(inner, price_per_million_input=1, max_cost_usd=1e9, max_calls=10**9)


def words(text: str) -> int:
    return len(text.split())


def priced(inner: Summarizer, **more: Any) -> Accounting:
    return Accounting(
        inner,
        price_per_million_input=1_000_000,
        price_per_million_output=2_000_000,
        count_tokens=words,
        **more,
    )


def test_counts_what_the_summarizer_does_not_say() -> None:
    inner = Scripted(Summary(text="one two", usage=Usage(calls=1)))
    answer = run(priced(inner).summarize(ask("a b c", must_keep=("d e",))))
    assert answer.usage == Usage(calls=1, input_tokens=5, output_tokens=2, cost_usd=9.0)


def test_believes_what_it_says() -> None:
    said = Usage(calls=1, input_tokens=100, output_tokens=10)
    inner = Scripted(Summary(text="s", usage=said), Summary(text="s", usage=PAID))
    accounting = priced(inner)
    assert run(accounting.summarize(ask())).usage == Usage(
        calls=1, input_tokens=100, output_tokens=10, cost_usd=120.0
    )
    assert run(accounting.summarize(ask())).usage == PAID
    assert accounting.total.cost_usd == 120.25


def test_an_answer_from_a_cache_is_free() -> None:
    accounting = priced(Scripted(Summary(text="s")), max_calls=1)
    for _ in range(3):
        assert run(accounting.summarize(ask())).usage == Usage()
    assert accounting.total == Usage()


def test_a_failed_call_is_a_call() -> None:
    accounting = priced(Scripted(ForeignError()), max_calls=2)
    for expected in (ForeignError, ForeignError, SpendingError):
        with pytest.raises(expected):
            run(accounting.summarize(ask()))
    assert accounting.total == Usage(calls=2)


def test_totals_over_threads() -> None:
    accounting = Accounting(Echo())

    def work(_: int) -> None:
        async def main() -> None:
            await asyncio.gather(*(accounting.summarize(ask()) for _ in range(50)))

        run(main())

    run_in_threads(6, work)
    assert accounting.total.calls == 300
    assert accounting.total.input_tokens == 300 * PAID.input_tokens
    assert accounting.total.cost_usd == pytest.approx(300 * PAID.cost_usd)


def test_refuses_once_the_money_is_spent() -> None:
    inner = Scripted()
    accounting = Accounting(inner, max_cost_usd=0.6)
    for _ in range(3):  # 0.25 each: the third begins below the limit
        run(accounting.summarize(ask()))
    with pytest.raises(SpendingError, match=r"\$0\.7500 of \$0\.6000.*raise max_cost_usd") as error:
        run(accounting.summarize(ask()))
    assert isinstance(error.value, RefoldError)
    assert error.value.spent == accounting.total
    assert len(inner.requests) == 3


def test_many_at_once_do_not_overspend() -> None:
    gate = Gate()
    by_calls = Accounting(gate, max_calls=5)
    by_cost = priced(gate, max_cost_usd=25.0)  # each binds 1 + 2 * 4 dollars: three fit

    async def main() -> None:
        for accounting, allowed in ((by_calls, 5), (by_cost, 3)):
            asked = gate.asked
            requests = [ask("word", max_tokens=4)] * 40
            tasks = [asyncio.create_task(caught(accounting.summarize(r))) for r in requests]
            await until(lambda asked=asked, allowed=allowed: gate.asked == asked + allowed)  # type: ignore[misc]
            await until(lambda tasks=tasks: sum(t.done() for t in tasks) >= 35)  # type: ignore[misc]
            refused = [t.result() for t in tasks if t.done()]
            assert len(refused) == 40 - allowed
            assert all(isinstance(error, SpendingError) for error in refused)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    run(main())


def test_what_was_bound_is_free_again() -> None:
    accounting = priced(Scripted(), max_cost_usd=1.0)
    for _ in range(4):  # each binds 601 dollars and costs 0.25
        run(accounting.summarize(ask("word")))
    with pytest.raises(SpendingError):
        run(accounting.summarize(ask("word")))


@pytest.mark.parametrize(
    "name", ["price_per_million_input", "price_per_million_output", "max_cost_usd", "max_calls"]
)
def test_refuses_negative_numbers(name: str) -> None:
    wrong: dict[str, Any] = {name: -1}
    with pytest.raises(ConfigError, match=name):
        Accounting(Scripted(), **wrong)


def test_a_useless_answer_is_paid_for() -> None:
    said = Usage(calls=1, input_tokens=100, output_tokens=10)
    accounting = priced(Scripted(AnswerError("cut off", said)), max_cost_usd=100)
    error = run(caught(accounting.summarize(ask())))
    assert isinstance(error, AnswerError)
    assert error.usage == accounting.total
    assert accounting.total.cost_usd == 120.0
    assert isinstance(run(caught(accounting.summarize(ask()))), SpendingError)
