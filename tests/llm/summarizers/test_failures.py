"""`Retrying`, `CircuitBreaker` and `Escalating`: who is asked again after a failure, and when."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from refold.errors import AnswerError, CircuitOpenError, ConfigError, RefoldError
from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest
from refold.llm.summarizers.failures import (
    CircuitBreaker,
    Escalating,
    Retrying,
    is_transient,
    retry_after_seconds,
)
from tests.llm.summarizers.contract import (
    PAID,
    TEXT,
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

NOW = 1_700_000_000.0


class TestRetrying(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Retrying(inner)


class HttpError(Exception):
    def __init__(self, status: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(f"HTTP {status}")
        self.status_code = status
        self.response = SimpleNamespace(status_code=status, headers=headers or {})


class Sleeps(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def retrying(inner: Summarizer, sleeps: Sleeps, *, random: float = 1.0, **more: Any) -> Retrying:
    return Retrying(inner, sleep=sleeps, random=lambda: random, clock=lambda: NOW, **more)


def test_asks_again_until_it_works() -> None:
    inner, sleeps = Scripted(HttpError(503), TimeoutError(), "short"), Sleeps()
    assert run(retrying(inner, sleeps).summarize(ask())).text == "short"
    assert len(inner.requests) == 3
    assert sleeps == [0.5, 1.0]


def test_gives_up_with_the_last_error() -> None:
    last = HttpError(500)
    inner, sleeps = Scripted(HttpError(503), HttpError(502), last), Sleeps()
    with pytest.raises(HttpError) as caught:
        run(retrying(inner, sleeps).summarize(ask()))
    assert caught.value is last
    assert len(inner.requests) == 3
    assert len(sleeps) == 2


def test_waits_grow_up_to_the_longest_and_are_drawn_at_random() -> None:
    def waits(random: float, **more: Any) -> Sleeps:
        sleeps = Sleeps()
        wrapped = retrying(Scripted(TimeoutError()), sleeps, random=random, tries=7, **more)
        with pytest.raises(TimeoutError):
            run(wrapped.summarize(ask()))
        return sleeps

    assert waits(1.0, max_seconds=5) == [0.5, 1, 2, 4, 5, 5]
    assert waits(0.5, max_seconds=5) == [0.25, 0.5, 1, 2, 2.5, 2.5]
    assert waits(0.0, jitter=False, max_seconds=5) == [0.5, 1, 2, 4, 5, 5]
    assert waits(0.0) == [0] * 6


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": "7.5"}, 7.5),
        ({"retry-after": "20"}, 20),
        ({"retry-after": format_datetime(datetime.fromtimestamp(NOW + 9, UTC), usegmt=True)}, 9),
        ({"retry-after": format_datetime(datetime.fromtimestamp(NOW - 9, UTC), usegmt=True)}, 0),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "nan"}, 0),
        ({"retry-after": "-3"}, 0),
        ({}, 0),
    ],
)
def test_the_server_is_left_alone_as_long_as_it_wants(
    headers: dict[str, str], expected: float
) -> None:
    sleeps = Sleeps()
    inner = Scripted(HttpError(429, headers), "short")
    assert run(retrying(inner, sleeps, random=0.0).summarize(ask())).text == "short"
    assert sleeps == [expected]


def test_a_server_that_wants_to_be_left_alone_for_too_long_is_not_asked_again() -> None:
    inner, sleeps = Scripted(HttpError(429, {"retry-after": "3600"}), "short"), Sleeps()
    with pytest.raises(HttpError):
        run(retrying(inner, sleeps).summarize(ask()))
    assert len(inner.requests) == 1
    assert sleeps == []


def test_a_short_retry_after_does_not_shorten_the_backoff() -> None:
    sleeps = Sleeps()
    inner = Scripted(HttpError(429, {"retry-after": "0"}), "short")
    run(retrying(inner, sleeps).summarize(ask()))
    assert sleeps == [0.5]


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 529])
def test_statuses_that_may_pass(status: int) -> None:
    assert is_transient(HttpError(status))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_statuses_that_do_not_pass(status: int) -> None:
    inner, sleeps = Scripted(HttpError(status)), Sleeps()
    with pytest.raises(HttpError):
        run(retrying(inner, sleeps).summarize(ask()))
    assert len(inner.requests) == 1
    assert sleeps == []


def test_the_errors_of_real_clients() -> None:
    request = httpx2.Request("POST", "https://example.org")
    for sdk in (openai, anthropic):
        busy = httpx2.Response(429, headers={"Retry-After": "4"}, request=request)
        limit = sdk.RateLimitError("slow down", response=busy, body=None)
        assert is_transient(limit)
        assert retry_after_seconds(limit, now=NOW) == 4
        assert is_transient(sdk.APIConnectionError(request=request))
        assert is_transient(sdk.APITimeoutError(request=request))
        bad = httpx2.Response(400, request=request)
        assert not is_transient(sdk.BadRequestError("no", response=bad, body=None))
    for error in (httpx2.ConnectError("x"), httpx2.ReadTimeout("x")):
        assert is_transient(error)
    assert is_transient(ConnectionResetError())
    assert not is_transient(httpx2.UnsupportedProtocol("x"))
    assert not is_transient(ValueError("x"))


def test_an_error_whose_attributes_raise_is_not_hidden() -> None:
    class OddError(Exception):
        @property
        def response(self) -> object:
            raise RuntimeError("no response yet")

    with pytest.raises(OddError):
        run(retrying(Scripted(OddError()), Sleeps()).summarize(ask()))


def test_the_caller_may_say_what_is_retryable() -> None:
    inner, sleeps = Scripted(ForeignError(), "short"), Sleeps()
    wrapped = retrying(inner, sleeps, is_retryable=lambda e: isinstance(e, ForeignError))
    assert run(wrapped.summarize(ask())) == Summary(text="short", usage=PAID)
    never = retrying(Scripted(TimeoutError(), "short"), sleeps, is_retryable=lambda _: False)
    with pytest.raises(TimeoutError):
        run(never.summarize(ask()))


def test_cancelling_during_the_wait_asks_no_more() -> None:
    inner = Scripted(TimeoutError())

    async def main() -> None:
        waits = asyncio.Event()

        async def sleep(_: float) -> None:
            waits.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(Retrying(inner, sleep=sleep).summarize(ask()))
        await waits.wait()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    run(main())
    assert len(inner.requests) == 1


def test_cancellation_is_never_retried() -> None:
    inner = Scripted(asyncio.CancelledError())
    with pytest.raises(asyncio.CancelledError):
        run(retrying(inner, Sleeps(), is_retryable=lambda _: True).summarize(ask()))
    assert len(inner.requests) == 1


@pytest.mark.parametrize("wrong", [{"tries": 0}, {"base_seconds": -1}, {"max_seconds": -0.1}])
def test_refuses_what_cannot_work(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Retrying(Scripted(), **wrong)


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
def test_the_breaker_refuses_what_cannot_work(wrong: dict[str, Any]) -> None:
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


class TestEscalating(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Escalating(inner)


class TestEscalatingPastAFailure(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Escalating(Scripted(ValueError("cheap, but down")), inner)


def test_a_useful_answer_ends_it() -> None:
    second = Scripted()
    assert run(Escalating(Scripted("good"), second).summarize(ask())).text == "good"
    assert second.requests == []


@pytest.mark.parametrize("useless", ["", "  \n", TEXT, TEXT + "!"])
def test_a_useless_answer_does_not(useless: str) -> None:
    answer = run(Escalating(Scripted(useless), Scripted("good")).summarize(ask()))
    assert answer == Summary(text="good", usage=PAID + PAID)  # the useless one was paid for too


def test_an_error_does_not() -> None:
    three = Escalating(Scripted(ForeignError()), Scripted(OSError()), Scripted("good"))
    assert run(three.summarize(ask())) == Summary(text="good", usage=PAID)


def test_an_error_that_was_an_answer_is_paid_for() -> None:
    two = Escalating(Scripted(AnswerError("cut off", PAID)), Scripted("good"))
    assert run(two.summarize(ask())) == Summary(text="good", usage=PAID + PAID)


def test_the_last_error_is_raised_and_tells_of_the_others() -> None:
    last = ForeignError("last")
    with pytest.raises(ForeignError) as caught:
        run(Escalating(Scripted(OSError("first")), Scripted(""), Scripted(last)).summarize(ask()))
    assert caught.value is last
    assert caught.value.__notes__ == [
        "summarizer 1, asked before: OSError: first",
        "summarizer 2, asked before: no answer",
    ]


def test_the_last_answer_is_returned_as_it_is() -> None:
    assert run(Escalating(Scripted("x"), Scripted("")).summarize(ask("y"))).text == ""


def test_refuses_none() -> None:
    with pytest.raises(ConfigError, match="at least one"):
        Escalating()
