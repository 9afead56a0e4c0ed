"""Open an SQLite file as a store, and turn errors of SQLite into ones that users can act on."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from refold.errors import StoreError
from refold.private_files import make_private
from refold.stores.base import store_error

SCHEMA_VERSION: Final = 2
"""Raised whenever the tables change; older files are upgraded, newer ones refused."""
APPLICATION_ID: Final = 0x52464C44  # "RFLD": tells our files from other programs' databases

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

# Key and value are BLOBs because SQLite's TEXT cannot hold a lone surrogate. `value` comes last:
# SQLite then reads the small columns without walking through a long value.
_SCHEMA: Final = (
    "CREATE TABLE original (key BLOB PRIMARY KEY NOT NULL, written_at REAL NOT NULL, "
    "value BLOB NOT NULL)",
    "CREATE INDEX original_written_at ON original (written_at)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

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


FAILURES: Final = (sqlite3.Error, OverflowError, MemoryError, UnicodeError)
"""What SQLite raises. The last two also stand for damage: a size that no value has, a schema or a
message that is not UTF-8. `OverflowError` is a value above 2 GB."""


def explain(error: Exception, *, doing: str, path: Path) -> StoreError:
    """Return a `StoreError` that says what failed, where, and what to do about it."""
    is_damage = isinstance(error, MemoryError | UnicodeError)
    code = sqlite3.SQLITE_CORRUPT if is_damage else getattr(error, "sqlite_errorcode", None)
    # The low byte is the family; the rest only says which part of SQLite noticed.
    advice = _ADVICE.get(code & 0xFF) if code is not None else None
    detail = f"{advice} ({error})" if advice else str(error)
    return store_error(doing, path, detail)


def open_file(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Return a connection to the store at *path*, or raise `StoreError`.

    A missing file is created, readable by its owner only, unless *read_only* is true.
    """
    _check_path(path)
    if read_only and not path.exists():
        raise store_error("open", path, "there is no such file")
    is_fixed = read_only and _is_fixed(path)
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
    except FAILURES as error:
        connection.close()
        raise explain(error, doing="open", path=path) from error
    except BaseException:
        connection.close()
        raise
    return connection


def copy_entries(source: Path, target: Path) -> None:
    """Copy all entries of the store at *source* to the one at *target*, or none."""
    with closing(open_file(source, read_only=True)) as old, closing(open_file(target)) as new:
        try:
            rows = old.execute("SELECT key, written_at, value FROM original")
            new.execute("BEGIN IMMEDIATE")
            new.executemany("INSERT INTO original VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)
            new.execute("COMMIT")
        except FAILURES as error:
            raise explain(error, doing=f"copy {str(source)!r} to", path=target) from error


def roll_back(connection: sqlite3.Connection) -> None:
    """Undo the open transaction, if any; after some disk errors SQLite has already done so."""
    with suppress(sqlite3.Error):
        connection.execute("ROLLBACK")


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


def _is_fixed(path: Path) -> bool:
    """Return whether a file can only be read, and has no write-ahead log with newer data.

    SQLite writes beside a file even to read it, unless it is opened as immutable.
    """
    may_write = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    return not may_write and not path.with_name(f"{path.name}-wal").exists()


def _prepare_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Create the tables in an empty file; refuse a file of another program or version.

    This is one write transaction, so that only one of several processes creates the tables, and
    that a read-only file fails now instead of at the first put.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        if _is_empty(connection):
            for statement in _SCHEMA:
                connection.execute(statement)
        else:
            _check_owner(connection, path)
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether this database is empty, without even a version."""
    (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not (
        objects or _pragma(connection, "user_version") or _pragma(connection, "application_id")
    )


def _check_owner(connection: sqlite3.Connection, path: Path) -> None:
    if _pragma(connection, "application_id") != APPLICATION_ID:
        why = "it is the database of another program; choose another path"
        raise store_error("open", path, why)
    version = _pragma(connection, "user_version")
    if version != SCHEMA_VERSION:
        why = (
            f"its schema version is {version}, this refold knows version {SCHEMA_VERSION}; "
            "upgrade refold or choose another path"
        )
        raise store_error("open", path, why)


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


def _enter_wal_mode(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at the same time; without WAL, the safe default stays.

    SQLite does not wait for other processes here as it does elsewhere, so this does.
    """
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return
