"""Ask again after a failure that may pass: timeouts, lost connections, busy servers."""

from __future__ import annotations

import asyncio
import math
import random as _random
import time
from collections.abc import Awaitable, Callable, Iterator
from email.utils import parsedate_to_datetime
from typing import Any, Final

from refold.checks import check_number, check_whole
from refold.errors import attribute_of
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    as_summarizer,
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
