"""A store in one SQLite file: shared by threads and processes, safe against a crash at any time."""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

from refold.checks import check_choice, check_positive
from refold.stores.base import Entry, OpenStore, Removed, check_entries, check_keys, store_error
from refold.stores.codec import (
    Compression,
    check_compression,
    decode_found,
    decode_key,
    encode_key,
    encode_value,
    removable,
    span,
)
from refold.stores.sqlite_file import FAILURES, explain, open_file, roll_back

_KEYS_PER_QUERY: Final = 500  # old SQLite builds allow 999 variables in one statement
_ROWS_PER_QUERY: Final = 1_000
"""How many are listed or removed before other processes get the file again."""

# Not `INSERT OR IGNORE`, which would also silently drop a row that violates NOT NULL.
_INSERT: Final = (
    "INSERT INTO original (key, written_at, value) VALUES (?, ?, ?) ON CONFLICT (key) DO "
)
_KEEP: Final = _INSERT + "NOTHING"
_REMOVE: Final = (
    "DELETE FROM original WHERE key IN (SELECT key FROM original WHERE key >= ? AND key < ? "
    "AND written_at < ? LIMIT ?) RETURNING length(key) + ifnull(length(value), 0)"
)
_KEEP_AND_RENEW: Final = _INSERT + "UPDATE SET written_at = max(written_at, excluded.written_at)"


class SqliteStore(OpenStore):
    """Keeps originals in the SQLite file at *path*, which is created if it does not exist.

    Files are created readable by their owner only, and so are those that SQLite writes beside them.

    Any number of threads and processes may use the same file. A put is one transaction: once it
    returns, its entries survive a crash or a power cut; if it raises, none of them is stored.

    Originals never expire unless *ttl_seconds* is set: an entry whose last put is longer ago than
    that is no longer returned, and is deleted by the next put.

    With *read_only* the file must exist and is never written to: it may be an archive, or on a
    read-only disk.

    Values must be JSON and come back exactly; see `codec` for what is refused. They are packed by
    zlib, so that every installation can read the file; *compression* `"zstd"` is smaller and
    faster, and needs `refold[zstd]` wherever the file is read.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        ttl_seconds: float | None = None,
        read_only: bool = False,
        compression: Compression = "zlib",
        clock: Callable[[], float] = time.time,
    ) -> None:
        if ttl_seconds is not None:
            check_positive("ttl_seconds", ttl_seconds)
        check_choice("compression", compression, get_args(Compression))
        check_compression(compression)
        self._path = _absolute(path)
        self._compression: Compression = compression
        self._ttl_seconds = ttl_seconds
        self._read_only = read_only
        self._clock = clock
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = open_file(self._path, read_only=read_only)
        self._file = _identity(self._path)

    def put(self, entries: Mapping[str, Any]) -> None:
        """Store all entries, or none if it raises; an existing key keeps its value."""
        self._check_writable()
        now = self._clock()
        fresh = {encode_key(key): (key, value) for key, value in check_entries(entries).items()}
        with self._using("write to") as connection, _transaction(connection):
            self._check_in_place()
            if self._ttl_seconds is None:
                # Each fold puts its whole view: what is known need not be packed again.
                for raw in _find(connection, "key", fresh, -math.inf):
                    del fresh[raw[0]]
                how = _KEEP
            else:
                oldest = (self._oldest(now),)
                connection.execute("DELETE FROM original WHERE written_at < ?", oldest)
                how = _KEEP_AND_RENEW
            rows = (
                (raw, now, encode_value(*entry, self._compression)) for raw, entry in fresh.items()
            )
            connection.executemany(how, rows)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of *keys*; unknown and expired keys are left out."""
        wanted = {encode_key(key): key for key in check_keys(keys)}
        oldest = self._oldest(self._clock())
        with self._using("read") as connection:
            found = dict(_find(connection, "key, value", wanted, oldest))
        # In the order asked for: the order of SQLite is arbitrary.
        return decode_found(wanted, found, str(self._path))

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        """Yield the entries whose keys begin with *prefix*, in the order of their bytes.

        Entries that are stored or removed meanwhile may or may not be included.
        """
        low, high = span(prefix)
        last, after = low, ">="
        while True:
            query = (
                "SELECT key, length(key) + length(value), written_at FROM original "
                f"WHERE key {after} ? AND key < ? ORDER BY key LIMIT ?"
            )
            with self._using("read") as connection:
                rows = connection.execute(query, (last, high, _ROWS_PER_QUERY)).fetchall()
            for key, size, written_at in rows:
                if size is None or not isinstance(written_at, float):
                    why = f"the record of {decode_key(key)!r} is damaged; restore a backup"
                    raise store_error("read", self._path, why)
                yield Entry(decode_key(key), size, written_at)
            if len(rows) < _ROWS_PER_QUERY:
                return
            last, after = rows[-1][0], ">"

    def remove(self, prefix: str = "", *, before: float | None = None) -> Removed:
        """Remove the entries whose keys begin with *prefix*, if they were stored before a time.

        Their bytes are overwritten in the file, and in those that SQLite has beside it. The file
        keeps its size until `shrink` is called.
        """
        self._check_writable()
        entries = size = 0
        latest = math.inf if before is None else before
        for low, high in removable(prefix):
            is_over = False
            while not is_over:
                with self._using("write to") as connection, _transaction(connection):
                    self._check_in_place()
                    bounds = (low, high, latest, _ROWS_PER_QUERY)
                    rows = connection.execute(_REMOVE, bounds).fetchall()
                entries, size = entries + len(rows), size + sum(row[0] for row in rows)
                is_over = len(rows) < _ROWS_PER_QUERY
        with self._using("write to") as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return Removed(entries, size)

    def shrink(self) -> None:
        """Free the space of what was removed; the file is rewritten while others wait."""
        self._check_writable()
        with self._using("write to") as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        """Close the file; closing twice is fine, using the store afterwards is a `StoreError`.

        In a forked child this does nothing: the connection belongs to the parent.
        """
        if self._process != os.getpid():
            return
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy as a new connection to the same file."""
        reopen = partial(
            type(self),
            self._path,
            ttl_seconds=self._ttl_seconds,
            read_only=self._read_only,
            compression=self._compression,
            clock=self._clock,
        )
        return reopen, ()

    def __len__(self) -> int:
        oldest = self._oldest(self._clock())
        with self._using("read") as connection:
            query = "SELECT count(*) FROM original WHERE written_at >= ?"
            (count,) = connection.execute(query, (oldest,)).fetchone()
        return int(count)

    def __repr__(self) -> str:
        ttl = "" if self._ttl_seconds is None else f", ttl_seconds={self._ttl_seconds!r}"
        closed = ", closed" if self._connection is None else ""
        return f"SqliteStore({str(self._path)!r}{ttl}{closed})"

    def _oldest(self, now: float) -> float:
        """Return the time before which an entry has expired."""
        return -math.inf if self._ttl_seconds is None else now - self._ttl_seconds

    @contextmanager
    def _using(self, doing: str) -> Iterator[sqlite3.Connection]:
        """Lend the connection to one thread at a time; turn errors of SQLite into `StoreError`."""
        # Before the lock: a fork may have copied it while another thread of the parent held it.
        if self._process != os.getpid():
            why = (
                "it was opened before this process was forked; "
                "open a new SqliteStore in each process"
            )
            raise store_error(doing, self._path, why)
        with self._lock:
            if self._connection is None:
                raise store_error(doing, self._path, "it is closed; open a new SqliteStore")
            try:
                yield self._connection
            except FAILURES as error:
                raise explain(error, doing=doing, path=self._path) from error

    def _check_writable(self) -> None:
        if self._read_only:
            raise store_error("write to", self._path, "it was opened with read_only=True")

    def _check_in_place(self) -> None:
        """Raise if the file was deleted or replaced: SQLite would still write to the lost file."""
        if _identity(self._path) != self._file:
            why = "the file was deleted or replaced since it was opened; open a new SqliteStore"
            raise store_error("write to", self._path, why)


def _absolute(path: str | os.PathLike[str]) -> Path:
    """Return the full path, which stays valid when the working directory changes."""
    if os.fspath(path) == ":memory:":
        raise store_error("open", ":memory:", "use a MemoryStore for that")
    if os.fspath(path) == "":
        raise store_error("open", "", "the path is empty; name a file")
    return Path(path).absolute()


def _find(
    connection: sqlite3.Connection, columns: str, keys: Iterable[bytes], oldest: float
) -> list[Any]:
    """Return the rows of *keys* that were written since *oldest*; not in the order of the keys."""
    wanted = list(keys)
    rows: list[Any] = []
    for start in range(0, len(wanted), _KEYS_PER_QUERY):
        some = wanted[start : start + _KEYS_PER_QUERY]
        marks = ",".join("?" * len(some))
        # The + keeps SQLite from using the index of times instead of that of keys.
        query = f"SELECT {columns} FROM original WHERE key IN ({marks}) AND +written_at >= ?"
        rows += connection.execute(query, (*some, oldest))
    return rows


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of the file at *path*, or None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write everything or nothing; waits for other writers before it begins."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
