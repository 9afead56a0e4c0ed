"""The common part of stores on a server: packing, timeouts, retries, and error messages.

A subclass moves bytes, asynchronously, and knows one kind of server. All its operations are
idempotent: a key is never overwritten, and removing it twice is harmless. So whatever fails because
a server is briefly unavailable is retried, for up to *timeout_seconds*.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from abc import abstractmethod
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from typing import Any, Final, Self, TypeVar

from refold.checks import check_positive
from refold.errors import StoreError, describe
from refold.stores.base import (
    Entry,
    OpenStore,
    Removed,
    check_entries,
    check_keys,
    store_error,
)
from refold.stores.codec import decode_records, encode_key, encode_value
from refold.stores.opening import without_secrets

T = TypeVar("T")

TIMEOUT_SECONDS: Final = 30.0
"""How long a call waits for a server that restarts or fails over, which takes seconds. A guess."""
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0
"""Between two attempts: the first is soon, later ones are too rare to burden a server. Guesses."""


class RemoteStore(OpenStore):
    """A store on a server.

    What a subclass must do is below, from `_open` on. That runs in one event loop of the store's
    own, in a thread of its own, so connections are never used from two loops. The last thing that
    its `__init__` does is to call this one, which opens it.
    """

    def __init__(
        self, url: str, *, timeout_seconds: float, clock: Callable[[], float], **choices: Any
    ) -> None:
        """Connect; errors name the store by its *url*, without the secrets in it.

        *choices* are the other arguments of the subclass: a copy is opened with the same ones.
        """
        check_positive("timeout_seconds", timeout_seconds)
        choices |= {"timeout_seconds": timeout_seconds, "clock": clock}
        self._reopen = partial(type(self), url, **choices)
        self._url = url
        self._name = without_secrets(url)
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._loop: LoopThread | None = LoopThread()
        try:
            # Without retries: whoever opens a store wants to see at once what is wrong.
            self._loop.run(self._trying("open", self._open, seconds=0))
        except BaseException:
            self.close()
            raise

    def put(self, entries: Mapping[str, Any]) -> None:
        """Store all entries; an existing key keeps its value.

        If the server is lost on the way, some entries may have been stored, which does no harm.
        """
        self._using("write to").run(self._put(check_entries(entries)))

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of *keys*; unknown keys are left out."""
        return self._using("read").run(self._get(check_keys(keys)))

    async def aput(self, entries: Mapping[str, Any]) -> None:
        """Do what `put` does, without blocking the event loop."""
        await self._using("write to").arun(self._put(check_entries(entries)))

    async def aget(self, keys: Iterable[str]) -> dict[str, Any]:
        """Do what `get` does, without blocking the event loop."""
        return await self._using("read").arun(self._get(check_keys(keys)))

    async def _put(self, entries: dict[str, Any]) -> None:
        named = {encode_key(key): (key, value) for key, value in entries.items()}
        if not named:
            return
        # Each fold puts its whole view: what is known need not be packed and sent again.
        for raw in await self._trying("write to", partial(self._known, list(named))):
            del named[raw]
        records = [(raw, encode_value(*entry, "zstd")) for raw, entry in sorted(named.items())]
        if records:
            await self._trying("write to", partial(self._write, records, self._clock()))

    async def _get(self, keys: list[str]) -> dict[str, Any]:
        wanted = {encode_key(key): key for key in keys}
        if not wanted:
            return {}
        records = await self._trying("read", partial(self._read, list(wanted)))
        return decode_records(wanted, records, self._name)

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        """Yield the entries whose keys begin with *prefix*.

        Entries that are stored or removed meanwhile may or may not be included.
        """
        pages = self._pages(prefix)

        async def turn() -> Sequence[Entry] | None:
            return await anext(pages, None)

        # Without retries: a listing cannot be resumed in its middle.
        while (page := self._using("read").run(self._trying("read", turn, seconds=0))) is not None:
            yield from page

    def remove(self, prefix: str = "", *, before: float | None = None) -> Removed:
        """Remove the entries whose keys begin with *prefix*, if they were stored before a time."""
        remove = partial(self._remove, prefix, before)
        return self._using("write to").run(self._trying("write to", remove))

    def __len__(self) -> int:
        return self._using("read").run(self._trying("read", self._count))

    def close(self) -> None:
        """Close all connections; closing twice is fine, using the store afterwards is an error.

        In a forked child this does nothing: the connections belong to the parent.
        """
        if self._process != os.getpid():
            return
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            try:
                loop.run(self._close())
            finally:
                loop.close()

    async def aclose(self) -> None:
        """Do what `close` does, without blocking the event loop."""
        await asyncio.to_thread(self.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy as a new connection to the same place."""
        return self._reopen, ()

    def __repr__(self) -> str:
        closed = ", closed" if self._loop is None else ""
        return f"{type(self).__name__}({self._name!r}{closed})"

    def _using(self, doing: str) -> LoopThread:
        """Return the loop that talks to the server; raise `StoreError` if there is none."""
        again = f"open a new {type(self).__name__}"
        if self._process != os.getpid():
            why = f"it was opened before this process was forked; {again} in each process"
            raise store_error(doing, self._name, why)
        loop = self._loop
        if loop is None:
            raise store_error(doing, self._name, f"it is closed; {again}")
        return loop

    async def _trying(
        self, doing: str, attempt: Callable[[], Awaitable[T]], *, seconds: float | None = None
    ) -> T:
        """Return what *attempt* returns; retry while the server is unavailable.

        Errors say what failed, where, and what to do about it.
        """
        limit = self._timeout_seconds if seconds is None else seconds
        deadline = time.monotonic() + limit
        pause = _FIRST_PAUSE
        while True:
            try:
                return await attempt()
            except Exception as error:
                if isinstance(error, StoreError) and str(error).startswith("cannot "):
                    raise
                advice, may_pass = self._judge(error)
                if not may_pass or time.monotonic() + pause > deadline:
                    detail = f"{advice} ({describe(error)})" if advice else describe(error)
                    raise store_error(doing, self._name, detail) from error
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    @abstractmethod
    async def _open(self) -> None:
        """Connect, and prepare tables and the like."""

    async def _close(self) -> None:
        """Close all connections, also those of an `_open` that failed."""

    @abstractmethod
    async def _known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of *keys* that need not be written."""

    @abstractmethod
    async def _write(self, records: Sequence[tuple[bytes, bytes]], now: float) -> None:
        """Store all records durably before it returns; existing ones stay as they are."""

    @abstractmethod
    async def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the records of those *keys* that exist."""

    @abstractmethod
    def _pages(self, prefix: str) -> AsyncIterator[Sequence[Entry]]:
        """Yield the entries whose keys begin with *prefix*, some at a time."""

    @abstractmethod
    async def _remove(self, prefix: str, before: float | None) -> Removed:
        """Remove such entries if they are older than *before*, except audit notes."""

    @abstractmethod
    async def _count(self) -> int:
        """Return how many records there are."""

    @abstractmethod
    def _judge(self, error: Exception) -> tuple[str, bool]:
        """Return advice on an error, and whether a retry may succeed once the server is back.

        Advice is empty where the message of the error says enough.
        """


class LoopThread:
    """Runs coroutines for other threads until it is closed."""

    def __init__(self) -> None:
        # psycopg cannot use the default loop of Windows.
        self._loop = asyncio.SelectorEventLoop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="refold-store", daemon=True
        )
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return what *coroutine* returns; this thread waits for it."""
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # matters if only the waiting was interrupted, as by Ctrl-C
            raise

    async def arun(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return what *coroutine* returns, without blocking the event loop of the caller."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def close(self) -> None:
        """Cancel what is still running, and end the thread."""
        self.run(_cancel_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
