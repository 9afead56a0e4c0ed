"""Ask once: answers are kept by what was asked, in memory or in a file."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path
from typing import Final, Protocol, Self, runtime_checkable
from weakref import WeakValueDictionary

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


class Cached:
    """Keeps the answers of *inner* in *cache*; a kept answer costs nothing (`Usage()`).

    The key is the whole request and *version*: change that when the model or its prompt changes.
    Errors and empty answers are not kept; a cache that cannot be read or written is passed by.
    """

    def __init__(
        self, inner: Summarizer | TextFunction, cache: Cache | None = None, *, version: str = ""
    ) -> None:
        self._inner = as_summarizer(inner)
        self._cache: Cache = MemoryCache() if cache is None else cache
        self._version = version
        self._under_way: WeakValueDictionary[object, asyncio.Lock] = WeakValueDictionary()
        self.last_error: Exception | None = None  # of the cache, not of the summarizer

    async def summarize(self, request: SummaryRequest) -> Summary:
        """Return the answer kept for *request*, or ask for it and keep it.

        Of equal requests at once, on one event loop, one is asked and the others wait for it.
        """
        key = cache_key(request, version=self._version)
        place = (asyncio.get_running_loop(), key)
        lock = self._under_way.setdefault(place, asyncio.Lock())
        async with lock:
            return await self._summarize(key, request)

    async def _summarize(self, key: str, request: SummaryRequest) -> Summary:
        try:
            kept = self._cache.get(key)
        except Exception as error:  # noqa: BLE001 - a broken cache is slow, not fatal
            self.last_error, kept = error, None
        if kept is not None:
            return Summary(text=kept)
        answer = await self._inner.summarize(request)
        try:
            if answer.text.strip():
                self._cache.put(key, answer.text)
        except Exception as error:  # noqa: BLE001 - the answer is paid for, and good without it
            self.last_error = error
        return answer


def cache_key(request: SummaryRequest, *, version: str = "") -> str:
    """Return the address of the answer to *request*: any change of any field is another one."""
    # ascii(): injective for strings, lone surrogates included, and the same in every Python.
    named = [(field.name, getattr(request, field.name)) for field in fields(request)]
    return blake2b(ascii((version, named)).encode("ascii"), digest_size=32).hexdigest()


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
