"""What to do when calls fail: ask again, stop asking for a while, or ask another summarizer."""

from __future__ import annotations

import asyncio
import math
import random as _random
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from refold.checks import check_number, check_whole
from refold.errors import AnswerError, CircuitOpenError, ConfigError, attribute_of, describe
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    Usage,
    as_summarizer,
    usage_of,
)

_STATUSES: Final = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 that may pass: too slow, in conflict, too early, too many."""
_LARGEST_EXPONENT: Final = 60
"""Keeps the power of two within a float; the wait is capped long before."""

# Client libraries have errors of their own for what Python calls TimeoutError and ConnectionError.
# They are known by name, so that none of these libraries has to be installed.
_NAMES: Final = frozenset(
    {
        "APIConnectionError",  # openai, anthropic
        "ClientConnectionError",  # aiohttp
        "ConnectionError",  # requests, redis
        "NetworkError",  # httpx
        "RemoteProtocolError",  # httpx: the server hung up
        "ServerTimeoutError",  # aiohttp
        "Timeout",  # requests
        "TimeoutException",  # httpx
    }
)


class Retrying:
    """Asks *inner* up to *tries* times as long as `is_retryable(error)` says the failure may pass.

    The wait before the n-th retry is drawn evenly from 0 to `base_seconds * 2**(n-1)` ("full
    jitter": many callers that failed together do not come back together; *jitter* False waits for
    the whole of it). A server that names a time (`Retry-After`) is not asked before that. No wait
    is longer than *max_seconds*: a server that wants to be left alone for longer is not asked again
    at all. The last error is raised as it came; cancellation always is.
    """

    def __init__(
        self,
        inner: Summarizer | TextFunction,
        *,
        tries: int = 3,
        base_seconds: float = 0.5,
        max_seconds: float = 20.0,
        jitter: bool = True,
        is_retryable: Callable[[Exception], bool] | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        random: Callable[[], float] = _random.random,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_whole("tries", tries, least=1)
        check_number("base_seconds", base_seconds)
        check_number("max_seconds", max_seconds)
        self._inner = as_summarizer(inner)
        self._tries = tries
        self._base = base_seconds
        self._max = max_seconds
        self._jitter = jitter
        self._is_retryable = is_transient if is_retryable is None else is_retryable
        self._sleep = sleep
        self._random = random
        self._clock = clock

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return the first answer, or raise the last error."""
        for retry in range(self._tries - 1):
            try:
                return await self._inner.summarize(request)
            except Exception as error:
                if not self._is_retryable(error):
                    raise
                asked_for = retry_after_seconds(error, now=self._clock()) or 0.0
                if asked_for > self._max:
                    raise
                seconds = max(asked_for, self._backoff(retry))
            await self._sleep(seconds)
        return await self._inner.summarize(request)

    def _backoff(self, retry: int) -> float:
        backoff = min(self._max, self._base * 2.0 ** min(retry, _LARGEST_EXPONENT))
        return backoff * self._random() if self._jitter else backoff


def is_transient(error: Exception) -> bool:
    """Return whether the same request may succeed later: by type, by HTTP status, by name.

    To retry more: `is_retryable=lambda e: is_transient(e) or isinstance(e, MyError)`.
    """
    status = status_of(error)
    if status is not None:
        return status in _STATUSES or 500 <= status <= 599
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    return any(kind.__name__ in _NAMES for kind in type(error).__mro__)


def retry_after_seconds(error: Exception, *, now: float) -> float | None:
    """Return how long the server wants to be left alone, or None if it does not say.

    Reads `Retry-After` in seconds or as an HTTP date, and `retry-after-ms`, which some providers
    send as well because it is finer. *now* is the time since the epoch.
    """
    headers = dict(_headers(error))
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    from email.utils import parsedate_to_datetime  # it loads slowly, and few servers name a date

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):  # not a date either
        return None


def status_of(error: Exception) -> int | None:
    """Return the HTTP status that an error stands for, if it says so."""
    for holder in (error, attribute_of(error, "response")):
        for name in ("status_code", "status", "code"):
            value = attribute_of(holder, name)
            if isinstance(value, int) and 400 <= value <= 599:
                return value
    return None


def _headers(error: Exception) -> Iterator[tuple[str, str]]:
    """Yield what headers the error or its response carries; names in small letters."""
    holder: Any
    for holder in (error, attribute_of(error, "response")):
        try:
            yield from ((str(name).lower(), str(value)) for name, value in holder.headers.items())
        except Exception:  # noqa: BLE001 - a foreign object: it may have none, or anything else
            continue


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


_ABOUT_THE_TEXT: Final = frozenset({400, 413, 422})
_BUSY: Final = 429
"""HTTP statuses of a server that works: it refuses this text, or is busy."""


@dataclass(frozen=True, slots=True)
class _Ticket:
    """The right to make one call; what comes of it counts only in the round it belongs to."""

    round: int
    is_trial: bool


class CircuitBreaker:
    """Refuses at once after *failures* failures in a row, for *cool_down_seconds*.

    After that one call is let through as a trial: if it succeeds everything is open for business
    again, if it fails the wait starts anew. A cancelled call says nothing about the summarizer, nor
    does an error that shows it at work: it is busy, or it refuses or cannot answer this one text.
    Calls that were under way when the breaker opened or closed no longer change its mind.
    """

    def __init__(
        self,
        inner: Summarizer | TextFunction,
        *,
        failures: int = 5,
        cool_down_seconds: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_whole("failures", failures, least=1)
        check_number("cool_down_seconds", cool_down_seconds)
        self._inner = as_summarizer(inner)
        self._allowed = failures
        self._cool_down = cool_down_seconds
        self._clock = clock
        self._lock = threading.RLock()
        self._round = 0
        self._failed = 0
        self._open_since: float | None = None
        self._has_trial = False
        self._why = ""

    @property
    def is_open(self) -> bool:
        """Whether calls are refused, but for the trial after the cool-down."""
        return self._open_since is not None

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Ask *inner*, or raise `CircuitOpenError` without asking."""
        ticket = self._admit()
        try:
            answer = await self._inner.summarize(request)
        except Exception as error:
            if _is_at_work(error):
                self._hand_back(ticket)
            else:
                self._count_failure(ticket, error)
            raise
        except BaseException:
            self._hand_back(ticket)
            raise
        self._count_success(ticket)
        return answer

    def _admit(self) -> _Ticket:
        with self._lock:
            if self._open_since is None:
                return _Ticket(self._round, is_trial=False)
            wait = self._open_since + self._cool_down - self._clock()
            if wait > 0 or self._has_trial:
                raise CircuitOpenError(self._refusal(max(0.0, wait)), max(0.0, wait))
            self._has_trial = True
            return _Ticket(self._round, is_trial=True)

    def _refusal(self, wait: float) -> str:
        until = f"it is tried again in {wait:.3g} s" if wait else "it is being tried again now"
        return (
            f"the summarizer is not asked: it failed {self._failed} times in a row; {until}; "
            f"the last error was {self._why}"
        )

    def _count_failure(self, ticket: _Ticket, error: Exception) -> None:
        # The words, not the error: its traceback would keep the texts of the call alive.
        why = describe(error)
        with self._lock:
            if ticket.round != self._round:
                return
            self._failed += 1
            self._why = why
            if ticket.is_trial or self._failed >= self._allowed:
                self._start_round(open_since=self._clock())

    def _count_success(self, ticket: _Ticket) -> None:
        with self._lock:
            if ticket.round != self._round:
                return
            self._failed = 0
            if ticket.is_trial:
                self._start_round(open_since=None)

    def _hand_back(self, ticket: _Ticket) -> None:
        with self._lock:
            if ticket.is_trial and ticket.round == self._round:
                self._has_trial = False

    def _start_round(self, *, open_since: float | None) -> None:
        self._round += 1
        self._open_since = open_since
        self._has_trial = False


def _is_at_work(error: Exception) -> bool:
    """Return whether the summarizer works, but is busy or cannot answer this one text."""
    return isinstance(error, AnswerError) or status_of(error) in {_BUSY, *_ABOUT_THE_TEXT}


class Escalating:
    """Asks *inner* in turn until one gives an answer that is not empty and shorter than the text.

    The answer or the error of the last one is passed on, whatever it is.
    The answer's usage includes what the useless answers before it have cost.
    """

    def __init__(self, *inner: Summarizer | TextFunction) -> None:
        if not inner:
            raise ConfigError("Escalating needs at least one summarizer, got none")
        *self._first, self._last = map(as_summarizer, inner)

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return the first useful answer."""
        spent = Usage()
        problems: list[str] = []
        for summarizer in self._first:
            try:
                answer = await summarizer.summarize(request)
            except Exception as error:  # noqa: BLE001 - foreign code may raise anything
                problems.append(describe(error))
                spent += usage_of(error)
                continue
            if answer.is_useful_for(request):
                return answer.charged(spent)
            problems.append("its answer was not shorter" if answer.text.strip() else "no answer")
            spent += answer.usage
        try:
            answer = await self._last.summarize(request)
        except Exception as error:
            for number, problem in enumerate(problems, start=1):
                error.add_note(f"summarizer {number}, asked before: {problem}")
            raise
        return answer.charged(spent)
