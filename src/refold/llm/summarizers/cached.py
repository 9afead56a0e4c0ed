"""Ask once: answers kept by content, in memory or in a file; equal requests share one call."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final, Protocol, Self, runtime_checkable

from refold.checks import check_whole
from refold.errors import StoreError
from refold.llm.summarizers.base import (
    Summarizer,
    Summary,
    SummaryRequest,
    TextFunction,
    as_summarizer,
)
from refold.private_files import make_private


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCounts:
    """How requests were answered: from the cache, by another's call under way, by asking.

    An error is a cache that could not be read or written; it costs a call, not the answer.
    """

    hits: int = 0
    shared: int = 0
    calls: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of a call; neither an answer nor an error if its event loop was shut down."""

    answer: Summary | None = None
    error: BaseException | None = None


class _Flight:
    """A call under way and those who wait for it, each with a future of its own event loop."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.task: asyncio.Task[Summary] | None = None
        self.waiters: dict[asyncio.Future[_Outcome], asyncio.AbstractEventLoop] = {}


class Cached:
    """Keeps the answers of *inner* in *cache*; a kept answer costs nothing (`Usage()`).

    The key is the whole request and *version*: change that when the model or its prompt changes.
    Requests that are equal and under way at once, in any thread, share one call, and only one of
    them reports its usage. The call is cancelled once all waiters have gone. Answers are kept
    the moment they come, so cancelling loses no finished work; errors and empty ones are not kept.
    """

    def __init__(
        self, inner: Summarizer | TextFunction, cache: Cache | None = None, *, version: str = ""
    ) -> None:
        self._inner = as_summarizer(inner)
        self._cache: Cache = MemoryCache() if cache is None else cache
        self._version = version
        # Reentrant: a coroutine that is collected as garbage stops waiting from wherever it is.
        self._lock = threading.RLock()
        self._flights: dict[str, _Flight] = {}
        self._counts = CacheCounts()
        self.last_error: Exception | None = None  # of the cache, not of the summarizer

    @property
    def counts(self) -> CacheCounts:
        """How requests were answered so far."""
        return self._counts

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return the answer kept for *request*, or ask for it and keep it."""
        key = cache_key(request, version=self._version)
        kept = self._read(key)
        while kept is None:
            outcome = await self._wait(key, request)
            if outcome.error is not None:
                raise outcome.error
            if outcome.answer is not None:
                return outcome.answer
            # The loop that asked for all of us is gone: one of the others asks again.
        self._count("hits")
        return Summary(text=kept)

    async def _wait(self, key: str, request: SummaryRequest) -> _Outcome:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[_Outcome] = loop.create_future()
        with self._lock:
            flight = self._flights.get(key)
            if flight is not None and flight.loop.is_closed():
                _notify(flight, _Outcome())
                flight = None
            is_new = flight is None
            if flight is None:
                flight = self._flights[key] = _Flight()
            flight.waiters[waiter] = loop
        if is_new:
            flight.task = loop.create_task(self._ask(key, request))
            flight.task.add_done_callback(lambda task: self._land(key, flight, task))
        else:
            self._count("shared")
        try:
            return await waiter
        except BaseException as reason:
            task = self._leave(key, flight, waiter)
            if task and flight.loop is loop and isinstance(reason, asyncio.CancelledError):
                await asyncio.wait([task])
            raise

    async def _ask(self, key: str, request: SummaryRequest) -> Summary:
        kept = self._read(key)  # an equal call may have ended since the first look
        if kept is not None:
            self._count("hits")
            return Summary(text=kept)
        self._count("calls")
        answer = await self._inner.summarize(request)
        try:
            if answer.text.strip():
                self._cache.put(key, answer.text)
        except Exception as error:  # noqa: BLE001 - the answer is paid for, and good without it
            self._count("errors", error)
        return answer

    def _land(self, key: str, flight: _Flight, task: asyncio.Task[Summary]) -> None:
        with self._lock:
            if self._flights.get(key) is flight:
                del self._flights[key]
            _notify(flight, _outcome(task))

    def _leave(
        self, key: str, flight: _Flight, waiter: asyncio.Future[_Outcome]
    ) -> asyncio.Task[Summary] | None:
        """Stop waiting; the last waiter to leave cancels the call and gets its task."""
        with self._lock:
            waited = flight.waiters.pop(waiter, None) is not None
            if not waited or flight.waiters or flight.task is None:
                return None
            if self._flights.get(key) is flight:
                del self._flights[key]
        with suppress(RuntimeError):  # its loop is closed, and the task with it
            flight.loop.call_soon_threadsafe(flight.task.cancel)
        return flight.task

    def _read(self, key: str) -> str | None:
        try:
            return self._cache.get(key)
        except Exception as error:  # noqa: BLE001 - a broken cache is slow, not fatal
            self._count("errors", error)
            return None

    def _count(self, name: str, error: Exception | None = None) -> None:
        with self._lock:
            self.last_error = error or self.last_error
            self._counts = replace(self._counts, **{name: getattr(self._counts, name) + 1})


def cache_key(request: SummaryRequest, *, version: str = "") -> str:
    """Return the address of the answer to *request*: any change of any field is another one."""
    # ascii(): injective for strings, lone surrogates included, and the same in every Python.
    named = [(field.name, getattr(request, field.name)) for field in fields(request)]
    return blake2b(ascii((version, named)).encode("ascii"), digest_size=32).hexdigest()


def _outcome(task: asyncio.Task[Summary]) -> _Outcome:
    if not task.cancelled():
        error = task.exception()
        return _Outcome(error=error) if error else _Outcome(answer=task.result())
    if task.cancelling():
        return _Outcome()
    return _Outcome(error=asyncio.CancelledError())  # the inner summarizer's own idea


def _notify(flight: _Flight, outcome: _Outcome) -> None:
    """Wake all waiters; only the first one reports the usage."""
    waiters, flight.waiters = flight.waiters, {}
    for waiter, loop in waiters.items():
        with suppress(RuntimeError):  # its loop is closed, and the waiter gone
            loop.call_soon_threadsafe(_resolve, waiter, outcome)
            if outcome.answer is not None:
                outcome = _Outcome(answer=Summary(text=outcome.answer.text))


def _resolve(waiter: asyncio.Future[_Outcome], outcome: _Outcome) -> None:
    if not waiter.done():
        waiter.set_result(outcome)


_APPLICATION_ID: Final = 0x52464C43  # "RFLC": tells our files from other programs' databases


@runtime_checkable
class Cache(Protocol):
    """Where answers are kept; used from several threads at once."""

    def get(self, key: str) -> str | None:
        """Return the answer kept under *key*, or None."""
        ...

    def put(self, key: str, text: str) -> None:
        """Keep an answer."""
        ...


class MemoryCache:
    """Keeps the *max_entries* answers used last; gone with the process."""

    def __init__(self, max_entries: int = 10_000) -> None:
        check_whole("max_entries", max_entries, least=1)
        self._max_entries = max_entries
        self._lock = threading.Lock()
        self._texts: OrderedDict[str, str] = OrderedDict()

    def get(self, key: str) -> str | None:
        """Return the answer kept under *key*, or None."""
        with self._lock:
            text = self._texts.get(key)
            if text is not None:
                self._texts.move_to_end(key)
            return text

    def put(self, key: str, text: str) -> None:
        """Keep an answer; the one not used for longest may have to go."""
        with self._lock:
            self._texts[key] = text
            self._texts.move_to_end(key)
            if len(self._texts) > self._max_entries:
                self._texts.popitem(last=False)


class SqliteCache:
    """Keeps answers in the SQLite file at *path*: for later processes, and for several at once."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path).absolute()
        self._lock = threading.Lock()
        with _naming_errors("open", self._path):
            self._connection = _open(self._path)

    def get(self, key: str) -> str | None:
        """Return the answer kept under *key*, or None."""
        with self._lock, _naming_errors("read", self._path):
            query = "SELECT text FROM summary WHERE key = ?"
            row = self._connection.execute(query, (key,)).fetchone()
            return None if row is None else bytes(row[0]).decode("utf-8", "surrogatepass")

    def put(self, key: str, text: str) -> None:
        """Keep an answer; of two processes that ask the same, the first one's is kept."""
        row = key, text.encode("utf-8", "surrogatepass")
        with self._lock, _naming_errors("write to", self._path):
            self._connection.execute(
                "INSERT INTO summary VALUES (?, ?) ON CONFLICT DO NOTHING", row
            )

    def close(self) -> None:
        """Close the file; closing twice is fine, using it afterwards is a `StoreError`."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open(path: Path) -> sqlite3.Connection:
    make_private(path)
    connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    try:
        # A cache may lose its last entries in a power cut, so no wait for the disk at each put.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")  # of several processes, one creates the table
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if owner != _APPLICATION_ID and (owner or tables):
            raise sqlite3.DatabaseError("it is another program's database; choose another path")
        if not tables:
            connection.execute("CREATE TABLE summary (key TEXT PRIMARY KEY, text BLOB NOT NULL)")
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute("COMMIT")
        with suppress(sqlite3.OperationalError):  # another process is just doing the same
            connection.execute("PRAGMA journal_mode = WAL")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _naming_errors(doing: str, path: Path) -> Iterator[None]:
    """Let what goes wrong with the file leave as a `StoreError`."""
    try:
        yield
    except (sqlite3.Error, ValueError, TypeError) as error:  # the latter two: a damaged row, a NUL
        raise StoreError(f"cannot {doing} the cache {str(path)!r}: {error}") from error
