"""`CircuitBreaker`: closed, open, half open, and back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from refold.errors import AnswerError, CircuitOpenError, ConfigError, RefoldError
from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest
from refold.llm.summarizers.breaker import CircuitBreaker
from tests.llm.summarizers.contract import (
    PAID,
    ForeignError,
    Gate,
    Scripted,
    SummarizerContract,
    ask,
    cancelled,
    caught,
    run,
    until,
)


class TestCircuitBreaker(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return CircuitBreaker(inner)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def outcome(summarizer: Summarizer) -> Summary | Exception:
    return run(caught(summarizer.summarize(ask())))


def opened(inner: Summarizer, clock: Clock, failures: int = 3) -> CircuitBreaker:
    breaker = CircuitBreaker(inner, failures=failures, cool_down_seconds=30, clock=clock)
    for _ in range(failures):
        assert isinstance(outcome(breaker), ForeignError)
    assert breaker.is_open
    return breaker


def test_opens_after_failures_in_a_row_and_then_asks_nobody() -> None:
    inner, clock = Scripted(ForeignError("down")), Clock()
    breaker = opened(inner, clock)
    clock.now += 10
    error = outcome(breaker)
    assert isinstance(error, CircuitOpenError)
    assert isinstance(error, RefoldError)
    assert error.wait_seconds == 20
    assert "failed 3 times in a row" in str(error)
    assert "tried again in 20 s" in str(error)
    assert "ForeignError: down" in str(error)
    assert len(inner.requests) == 3


def test_a_success_in_between_starts_the_count_again() -> None:
    down = ForeignError()
    inner = Scripted(down, down, "short", down, down, "short")
    breaker = CircuitBreaker(inner, failures=3)
    for _ in range(6):
        outcome(breaker)
    assert len(inner.requests) == 6
    assert not breaker.is_open


def test_a_trial_that_succeeds_closes_it() -> None:
    down = ForeignError()
    inner, clock = Scripted(down, down, down, "short", down, down, "short"), Clock()
    breaker = opened(inner, clock)
    clock.now += 30
    assert isinstance(outcome(breaker), Summary)
    assert not breaker.is_open
    for _ in range(2):  # it takes three again
        assert isinstance(outcome(breaker), ForeignError)
    assert isinstance(outcome(breaker), Summary)


def test_a_trial_that_fails_starts_the_wait_anew() -> None:
    inner, clock = Scripted(ForeignError()), Clock()
    breaker = opened(inner, clock)
    clock.now += 30
    assert isinstance(outcome(breaker), ForeignError)
    clock.now += 29
    assert isinstance(outcome(breaker), CircuitOpenError)
    clock.now += 1
    assert isinstance(outcome(breaker), ForeignError)
    assert len(inner.requests) == 5


class DownThenGate(Gate):
    def __init__(self, failures: int) -> None:
        super().__init__()
        self._failures = failures

    async def summarize(self, request: SummaryRequest) -> Summary:
        if self._failures:
            self._failures -= 1
            raise ForeignError
        return await super().summarize(request)


def test_only_one_trial_at_a_time() -> None:
    gate, clock = DownThenGate(3), Clock()
    breaker = opened(gate, clock)
    clock.now += 31

    async def main() -> None:
        trial = asyncio.create_task(breaker.summarize(ask()))
        await until(lambda: gate.waiting == 1)
        others = await asyncio.gather(*(caught(breaker.summarize(ask())) for _ in range(20)))
        assert all(isinstance(other, CircuitOpenError) for other in others)
        assert "being tried again now" in str(others[0])
        gate.open()
        await trial
        assert isinstance(await breaker.summarize(ask()), Summary)

    run(main())


def test_a_cancelled_trial_lets_the_next_one_try() -> None:
    gate, clock = DownThenGate(3), Clock()
    breaker = opened(gate, clock)
    clock.now += 31

    async def main() -> None:
        trial = asyncio.create_task(breaker.summarize(ask()))
        await until(lambda: gate.waiting == 1)
        assert await cancelled(trial)
        gate.open()
        await breaker.summarize(ask())

    run(main())
    assert not breaker.is_open


def test_cancelled_calls_are_no_failures() -> None:
    gate = Gate()
    breaker = CircuitBreaker(gate, failures=1)

    async def main() -> None:
        task = asyncio.create_task(breaker.summarize(ask()))
        await until(lambda: gate.waiting == 1)
        assert await cancelled(task)

    run(main())
    assert not breaker.is_open


def test_calls_from_before_it_opened_do_not_move_it() -> None:
    class Slow:
        """Fails for some, later, and answers others, later."""

        def __init__(self) -> None:
            self.go: dict[str, asyncio.Event] = {}

        async def summarize(self, request: SummaryRequest) -> Summary:
            await self.go.setdefault(request.text, asyncio.Event()).wait()
            if "bad" in request.text:
                raise ForeignError
            return Summary(text="s")

    async def main() -> None:
        slow, clock = Slow(), Clock()
        breaker = CircuitBreaker(slow, failures=1, cool_down_seconds=30, clock=clock)
        names = ["bad 1", "bad 2", "good"]
        tasks = {name: asyncio.create_task(caught(breaker.summarize(ask(name)))) for name in names}
        await asyncio.sleep(0)
        slow.go["bad 1"].set()
        await tasks["bad 1"]
        assert breaker.is_open
        slow.go["good"].set()
        await tasks["good"]
        assert breaker.is_open
        clock.now += 20
        slow.go["bad 2"].set()
        await tasks["bad 2"]
        clock.now += 10  # the late failure has not made the wait longer
        slow.go["good"].set()
        assert isinstance(await breaker.summarize(ask("good")), Summary)

    run(main())


@pytest.mark.parametrize("wrong", [{"failures": 0}, {"cool_down_seconds": -1}])
def test_refuses_what_cannot_work(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        CircuitBreaker(Scripted(), **wrong)


class BusyError(Exception):
    status_code = 429


class TooLongError(Exception):
    status_code = 400


@pytest.mark.parametrize("error", [BusyError(), TooLongError(), AnswerError("cut off", PAID)])
def test_who_is_busy_or_refuses_a_text_is_not_broken(error: Exception) -> None:
    inner, clock = Scripted(error), Clock()
    breaker = CircuitBreaker(inner, failures=2, clock=clock)
    for _ in range(5):
        assert outcome(breaker) is error
    assert not breaker.is_open
    assert len(inner.requests) == 5


def test_nor_does_it_fail_a_trial() -> None:
    down = ForeignError()
    inner, clock = Scripted(down, down, down, BusyError(), "short"), Clock()
    breaker = opened(inner, clock)
    clock.now += 30
    assert isinstance(outcome(breaker), BusyError)
    assert isinstance(outcome(breaker), Summary)
    assert not breaker.is_open


def test_an_error_without_words_is_a_failure_like_any_other() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("not even that")

    breaker = CircuitBreaker(Scripted(MuteError()), failures=1)
    assert isinstance(outcome(breaker), MuteError)
    assert "the last error was MuteError" in str(outcome(breaker))
