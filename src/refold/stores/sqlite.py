"""A store in one SQLite file: shared by threads and processes, safe against a crash at any time."""

from __future__ import annotations

import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

from refold.checks import check_choice, check_positive
from refold.errors import StoreError
from refold.private_files import make_private
from refold.stores.base import Entry, OpenStore, Removed, check_entries, check_keys, store_error
from refold.stores.codec import (
    Compression,
    check_compression,
    decode_key,
    decode_records,
    encode_key,
    encode_value,
    removable,
    span,
)

SCHEMA_VERSION: Final = 2
"""Raised whenever the tables change; files of other versions are refused."""
APPLICATION_ID: Final = 0x52464C44  # "RFLD": distinguishes our files from those of other programs
# Key and value are BLOBs because SQLite's TEXT cannot hold a lone surrogate. `value` comes last:
# SQLite then reads the small columns without walking through a long value.
_SCHEMA: Final = (
    "CREATE TABLE original (key BLOB PRIMARY KEY NOT NULL, written_at REAL NOT NULL, "
    "value BLOB NOT NULL)",
    "CREATE INDEX original_written_at ON original (written_at)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

_BUSY_SECONDS: Final = 30.0
_RETRY_SECONDS: Final = 0.01
"""How long a writer waits for others, and how long between two attempts. Guesses."""
_CACHE_KIB: Final = 32 * 1024
"""Keys are unordered, so a put touches pages all over their index: this holds the index of a
million originals. Memory is taken only as it is used."""
_CHECKPOINT_PAGES: Final = 4_000
"""16 MB, so that a page that several puts change is written once. With both settings, a put into a
store with a million originals took 1.02 times as long as one into an empty store, and 1.32 times
without them, in one run each of `bench/stores.py growth --originals 1000000`; other values were not
tried."""
_KEYS_PER_QUERY: Final = 500  # old SQLite builds allow 999 variables in one statement
_ROWS_PER_QUERY: Final = 1_000
"""How many are listed or removed before other processes get the file again."""

# Not `INSERT OR IGNORE`, which would also silently drop a row that violates NOT NULL.
_INSERT: Final = (
    "INSERT INTO original (key, written_at, value) VALUES (?, ?, ?) ON CONFLICT (key) DO "
)
_KEEP: Final = _INSERT + "NOTHING"
_KEEP_AND_RENEW: Final = _INSERT + "UPDATE SET written_at = max(written_at, excluded.written_at)"
_PAGE: Final = (
    "SELECT key, length(key) + length(value), written_at FROM original "
    "WHERE key {after} ? AND key < ? ORDER BY key LIMIT ?"
)
_REMOVE: Final = (
    "DELETE FROM original WHERE key IN (SELECT key FROM original WHERE key >= ? AND key < ? "
    "AND written_at < ? LIMIT ?) RETURNING length(key) + ifnull(length(value), 0)"
)

_FAILURES: Final = (sqlite3.Error, OverflowError, MemoryError, UnicodeError)
"""What SQLite raises. The last two also stand for damage: a size that no value has, a schema or a
message that is not UTF-8. `OverflowError` is a value above 2 GB."""
_ADVICE: Final = {
    sqlite3.SQLITE_BUSY: "another process keeps it locked; let that one finish, then try again",
    sqlite3.SQLITE_LOCKED: "another process keeps it locked; let that one finish, then try again",
    sqlite3.SQLITE_READONLY: "it is read-only; make the file and its directory writable",
    sqlite3.SQLITE_PERM: "access is denied; make the file and its directory readable and writable",
    sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; make it and its directory writable",
    sqlite3.SQLITE_NOTADB: "it is not an SQLite database; choose another path",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore a backup or choose another path",
    sqlite3.SQLITE_FULL: "the disk is full; free some space, then try again",
    sqlite3.SQLITE_IOERR: "the disk refused; check its free space, quota and health",
    sqlite3.SQLITE_TOOBIG: "one value is larger than SQLite can hold (about 1 GB)",
}


class SqliteStore(OpenStore):
    """Keeps originals in the SQLite file at *path*, which is created if it does not exist.

    Only the owner can read the files. Any number of threads and processes may share them. Once a
    put returns, its entries survive a power cut; if it raises, none of them is stored.

    Originals never expire unless *ttl_seconds* is set: an entry that was last put longer ago is no
    longer returned, and the next put deletes it. A *read_only* file must exist and is never written
    to.

    Values must be JSON and come back exactly; `codec` says what is refused. They are packed by
    zlib, which every installation can read; *compression* `"zstd"` is smaller and faster, and needs
    `refold[zstd]` wherever the file is read.
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
        if os.fspath(path) == ":memory:":
            raise store_error("open", ":memory:", "use a MemoryStore for that")
        if os.fspath(path) == "":
            raise store_error("open", "", "the path is empty; name a file")
        self._path = Path(path).absolute()  # stays valid when the working directory changes
        self._compression: Compression = compression
        self._ttl_seconds = ttl_seconds
        self._read_only = read_only
        self._clock = clock
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = _open_file(self._path, read_only=read_only)
        self._file = _identity(self._path)

    def put(self, entries: Mapping[str, Any]) -> None:
        """Store all entries, or none if it raises; an existing key keeps its value."""
        now = self._clock()
        fresh = {encode_key(key): (key, value) for key, value in check_entries(entries).items()}
        with self._writing() as connection:
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
            records = dict(_find(connection, "key, value", wanted, oldest))
        # In the order asked for: the order of SQLite is arbitrary.
        return decode_records(wanted, records, str(self._path))

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        """Yield the entries whose keys begin with *prefix*, in the order of their bytes.

        Entries that are stored or removed meanwhile may or may not be included.
        """
        last, high = span(prefix)
        after = ">="
        while True:
            with self._using("read") as connection:
                bounds = (last, high, _ROWS_PER_QUERY)
                rows = connection.execute(_PAGE.format(after=after), bounds).fetchall()
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
        parts = []
        latest = math.inf if before is None else before
        for low, high in removable(prefix):
            while True:
                with self._writing() as connection:
                    bounds = (low, high, latest, _ROWS_PER_QUERY)
                    sizes = [row[0] for row in connection.execute(_REMOVE, bounds)]
                parts.append(Removed(len(sizes), sum(sizes)))
                if len(sizes) < _ROWS_PER_QUERY:
                    break
        self._empty_log()
        return Removed.total(parts)

    def shrink(self) -> None:
        """Free the space of removed entries; the file is rewritten while others wait."""
        self._empty_log("VACUUM")

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
        if self._read_only and doing != "read":
            raise store_error(doing, self._path, "it was opened with read_only=True")
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
            except _FAILURES as error:
                raise explain(error, doing=doing, path=self._path) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection for one transaction."""
        with self._using("write to") as connection, _transaction(connection):
            if _identity(self._path) != self._file:  # SQLite would still write to the lost file
                why = "the file was deleted or replaced since it was opened; open a new SqliteStore"
                raise store_error("write to", self._path, why)
            yield connection

    def _empty_log(self, *statements: str) -> None:
        """Do *statements*, then move everything into the file itself, from the log beside it."""
        with self._using("write to") as connection:
            for statement in (*statements, "PRAGMA wal_checkpoint(TRUNCATE)"):
                connection.execute(statement).fetchone()


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


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Write everything or nothing; waits for other writers before it begins."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # after some disk errors SQLite has already done so
            connection.execute("ROLLBACK")
        raise


def explain(error: Exception, *, doing: str, path: Path) -> StoreError:
    """Return a `StoreError` that says what failed, where, and what to do about it."""
    is_damage = isinstance(error, MemoryError | UnicodeError)
    code = sqlite3.SQLITE_CORRUPT if is_damage else getattr(error, "sqlite_errorcode", None)
    # The low byte is the family; the rest only says which part of SQLite noticed.
    advice = _ADVICE.get(code & 0xFF) if code is not None else None
    return store_error(doing, path, f"{advice} ({error})" if advice else str(error))


# --- the file ------------------------------------------------------------------------------------


def _open_file(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Return a connection to the store at *path*, or raise `StoreError`.

    A missing file is created, readable by its owner only, unless *read_only* is true.
    """
    _check_path(path)
    if read_only and not path.exists():
        raise store_error("open", path, "there is no such file")
    # SQLite writes beside a file even to read it, unless it is opened as immutable: one that can
    # only be read, and has no write-ahead log with newer data.
    is_fixed = (
        read_only
        and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        and not path.with_name(f"{path.name}-wal").exists()
    )
    if not read_only:
        make_private(path)
    try:
        connection = sqlite3.connect(
            f"{path.as_uri()}?immutable=1" if is_fixed else path,
            uri=is_fixed,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
    except (sqlite3.Error, ValueError) as error:  # ValueError: a NUL in the path
        raise explain(error, doing="open", path=path) from error
    try:
        if is_fixed:
            _check_owner(connection, path)
        else:
            # FULL: a put that has returned survives a power failure.
            connection.execute("PRAGMA synchronous = FULL")
            # What is deleted is overwritten, not only freed.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            _prepare_schema(connection, path)
            _enter_wal_mode(connection)
    except _FAILURES as error:
        connection.close()
        raise explain(error, doing="open", path=path) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _check_path(path: Path) -> None:
    """Explain the mistakes for which SQLite only says "unable to open database file"."""
    try:
        if path.is_dir():
            why = "it is a directory; add a file name, such as 'refold.db'"
        elif path.exists() and not path.is_file():
            why = "it is not a regular file; choose another path"
        elif not path.parent.is_dir():
            why = "its directory does not exist; create that first"
        else:
            return
    except OSError as error:
        raise store_error("open", path, f"{error.strerror}; choose another path") from error
    raise store_error("open", path, why)


def _prepare_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Create the tables in an empty file; refuse a file of another program or version.

    This is one write transaction, so that only one of several processes creates the tables, and
    that a read-only file fails now instead of at the first put.
    """
    with _transaction(connection):
        (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if objects or any(_read_marks(connection)):
            _check_owner(connection, path)
        else:
            for statement in _SCHEMA:
                connection.execute(statement)


def _check_owner(connection: sqlite3.Connection, path: Path) -> None:
    owner, version = _read_marks(connection)
    if owner != APPLICATION_ID:
        why = "it is the database of another program; choose another path"
        raise store_error("open", path, why)
    if version != SCHEMA_VERSION:
        why = (
            f"its schema version is {version}, this refold knows version {SCHEMA_VERSION}; "
            "upgrade refold or choose another path"
        )
        raise store_error("open", path, why)


def _read_marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return whose file it is, and the version of its tables; zeros if nobody has said so."""
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return owner, version


def _enter_wal_mode(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at the same time; without WAL, the safe default stays.

    SQLite does not wait for other processes here as it does elsewhere, so this does.
    """
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of the file at *path*, or None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
