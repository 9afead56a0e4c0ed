"""`Retrying`: what is tried again, how often, and after how long."""

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

from refold.errors import ConfigError
from refold.llm.summarizers.base import Summarizer, Summary
from refold.llm.summarizers.retrying import Retrying, is_transient, retry_after_seconds
from tests.llm.summarizers.contract import (
    PAID,
    ForeignError,
    Scripted,
    SummarizerContract,
    ask,
    run,
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
