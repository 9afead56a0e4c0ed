"""A store in PostgreSQL: shared by machines, as durable as the server."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

from refold.checks import check_whole, need
from refold.errors import ConfigError, StoreError
from refold.stores.base import Entry, Removed
from refold.stores.codec import decode_key, removable, span
from refold.stores.remote import TIMEOUT_SECONDS, RemoteStore

MIGRATIONS: Final = (
    "CREATE TABLE refold_original (key bytea PRIMARY KEY, written_at double precision NOT NULL, "
    "value bytea NOT NULL)",
    # Records are written in the order of time, for which BRIN takes only a few pages.
    "CREATE INDEX refold_original_written_at ON refold_original USING brin (written_at)",
    # Values are already packed: compressing them again would take time and gain nothing.
    "ALTER TABLE refold_original ALTER COLUMN value SET STORAGE EXTERNAL",
)
"""The steps that made the tables: a step is never changed, new ones are added. `refold_schema` has
the number of steps done; all steps of an upgrade are one transaction."""

_LOCK: Final = 0x5246_4C44  # "RFLD": one upgrade at a time, in a database that others may use, too
_ROWS_PER_QUERY: Final = 2_000
"""Rows read or removed at once: they fit into memory, and transactions stay short."""
_RECONNECT_SECONDS: Final = 1.0
"""After this time a pool stops reconnecting on its own, instead of waiting longer and longer."""
_OPEN_SECONDS: Final = 2.0
"""How long a pool waits for a connection before the call is tried again. A guess."""

_KNOWN: Final = "SELECT key FROM refold_original WHERE key = ANY(%b::bytea[])"
_READ: Final = "SELECT key, value FROM refold_original WHERE key = ANY(%b::bytea[])"
_WRITE: Final = (
    "INSERT INTO refold_original (key, written_at, value) "
    "SELECT key, %b::float8, value FROM unnest(%b::bytea[], %b::bytea[]) AS new (key, value) "
    "ON CONFLICT (key) DO NOTHING"
)
_PAGE: Final = (
    "SELECT key, octet_length(key) + octet_length(value), written_at FROM refold_original "
    "WHERE key {after} %b::bytea AND key < %b::bytea ORDER BY key LIMIT %b"
)
_REMOVE: Final = (
    "WITH gone AS (DELETE FROM refold_original WHERE key IN (SELECT key FROM refold_original "
    "WHERE key >= %b::bytea AND key < %b::bytea AND written_at < %b::float8 LIMIT %b) "
    "RETURNING octet_length(key) + octet_length(value) AS size) "
    "SELECT count(*), coalesce(sum(size), 0)::bigint FROM gone"
)


class PostgresStore(RemoteStore):
    """Keeps originals in a PostgreSQL database; needs `refold[postgres]`.

    *url* is anything that libpq takes, including several hosts and TLS. Up to *max_connections* are
    opened as needed. Each statement is a transaction of its own, and nothing is prepared or set, so
    that PgBouncer may use another connection for each. Tables are created and upgraded when a store
    is opened.

    A put that has returned is as durable as the server is configured to be: with a synchronous
    standby it survives the loss of the primary. While the server restarts or fails over, calls wait
    for it, for at most *timeout_seconds*; then, or if the server hangs, they raise `StoreError`.
    """

    def __init__(
        self,
        url: str,
        *,
        max_connections: int = 8,
        timeout_seconds: float = TIMEOUT_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not url.startswith(("postgresql://", "postgres://")):
            raise ConfigError("the address of a PostgresStore must begin with postgresql://")
        check_whole("max_connections", max_connections, least=1)
        need_here = partial(need, extra="postgres", what="a PostgresStore", error=StoreError)
        self._psycopg = need_here("psycopg")
        self._pools = need_here("psycopg_pool")
        self._max_connections = max_connections
        self._pool: Any = None
        super().__init__(
            url, timeout_seconds=timeout_seconds, clock=clock, max_connections=max_connections
        )

    async def _open(self) -> None:
        """Upgrade the tables, not through the pool, which would not say what went wrong."""
        # libpq counts in whole seconds, and takes less than two for two.
        wait = max(2, int(self._timeout_seconds))
        options = {"autocommit": True, "prepare_threshold": None, "connect_timeout": wait}
        connection = await self._psycopg.AsyncConnection.connect(self._url, **options)
        async with connection, self._limited(connection):
            await _migrate(connection)
        self._pool = self._pools.AsyncConnectionPool(
            self._url,
            kwargs=options,
            min_size=0,
            max_size=self._max_connections,
            timeout=min(_OPEN_SECONDS, self._timeout_seconds),
            reconnect_timeout=_RECONNECT_SECONDS,
            open=False,
        )
        await self._pool.open()

    async def _close(self) -> None:
        if self._pool is not None:
            await self._pool.close()

    async def _known(self, keys: Sequence[bytes]) -> set[bytes]:
        return {row[0] for row in await self._ask(_KNOWN, keys)}

    async def _write(self, records: Sequence[tuple[bytes, bytes]], now: float) -> None:
        """Insert in one statement, in the order of keys, so that two writers never deadlock."""
        keys, values = [key for key, _ in records], [value for _, value in records]
        await self._ask(_WRITE, now, keys, values)

    async def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        return dict(await self._ask(_READ, keys))

    async def _pages(self, prefix: str) -> AsyncIterator[Sequence[Entry]]:
        """Yield entries in the order of keys; nothing is kept open between two pages."""
        low, high = span(prefix)
        after = ">="
        while True:
            page = await self._ask(_PAGE.format(after=after), low, high, _ROWS_PER_QUERY)
            if page:
                yield [Entry(decode_key(key), size, at) for key, size, at in page]
            if len(page) < _ROWS_PER_QUERY:
                return
            low, after = page[-1][0], ">"

    async def _remove(self, prefix: str, before: float | None) -> Removed:
        """Remove some rows at a time, so that others can write and transactions stay short."""
        parts = []
        latest = float("inf") if before is None else before
        for low, high in removable(prefix):
            while True:
                (row,) = await self._ask(_REMOVE, low, high, latest, _ROWS_PER_QUERY)
                parts.append(Removed(*row))
                if parts[-1].entries < _ROWS_PER_QUERY:
                    break
        return Removed.total(parts)

    async def _count(self) -> int:
        ((entries,),) = await self._ask("SELECT count(*) FROM refold_original")
        return int(entries)

    def _judge(self, error: Exception) -> tuple[str, bool]:
        """Treat a lost connection as a restart, and a read-only server as a failover."""
        errors = self._psycopg.errors
        match error:
            case TimeoutError():
                advice = "the server does not answer; check it, or give it more timeout_seconds"
                return advice, False
            case errors.DiskFull():
                return "the disk of the server is full; free some space, then try again", False
            case errors.InsufficientPrivilege():
                return "the user lacks rights; grant SELECT, INSERT, DELETE, and CREATE once", False
            case self._psycopg.OperationalError():
                is_away = not isinstance(error, errors.OutOfMemory | errors.QueryCanceled)
                return (
                    "the server cannot be reached or refuses; check its address and state",
                    is_away,
                )
        return "", isinstance(error, errors.ReadOnlySqlTransaction)

    async def _ask(self, query: str, *values: Any) -> list[Any]:
        """Run one statement as a transaction of its own."""
        async with self._pool.connection() as connection, self._limited(connection):
            cursor = await connection.execute(query, values, binary=True)
            return [] if cursor.description is None else await cursor.fetchall()

    @asynccontextmanager
    async def _limited(self, connection: Any) -> AsyncIterator[None]:
        """Break a connection whose server does not answer in time.

        Cancelling does not help: psycopg then asks the server to cancel, too, and waits for it.
        """
        is_late = False

        def break_off() -> None:
            nonlocal is_late
            is_late = True
            with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as line:
                line.shutdown(socket.SHUT_RDWR)

        timer = asyncio.get_running_loop().call_later(self._timeout_seconds, break_off)
        try:
            yield
        except self._psycopg.Error as error:
            if is_late:
                raise TimeoutError(f"no answer within {self._timeout_seconds:g} s") from error
            raise
        finally:
            timer.cancel()


async def _migrate(connection: Any) -> None:
    """Do the steps of `MIGRATIONS` that are missing in the database, all or none."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%b::int8)", (_LOCK,))
        cursor = await connection.execute("SELECT to_regclass('refold_schema') IS NULL")
        if (await cursor.fetchone())[0]:
            await connection.execute("CREATE TABLE refold_schema (version integer NOT NULL)")
            await connection.execute("INSERT INTO refold_schema VALUES (0)")
        cursor = await connection.execute("SELECT version FROM refold_schema")
        (version,) = await cursor.fetchone()
        if version > len(MIGRATIONS):
            raise StoreError(
                f"its schema version is {version}, this refold knows version {len(MIGRATIONS)}; "
                "upgrade refold or choose another database"
            )
        for step in MIGRATIONS[version:]:
            await connection.execute(step)
        if version < len(MIGRATIONS):
            done = (len(MIGRATIONS),)
            await connection.execute("UPDATE refold_schema SET version = %b::int4", done)
