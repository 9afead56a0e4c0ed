"""Where answers of models are kept: in memory, or in a file for later processes."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol, Self, runtime_checkable

from refold.checks import check_whole
from refold.errors import StoreError
from refold.private_files import make_private

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
