"""A store in S3, Google Cloud Storage, Azure or a folder: one object for each put."""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from refold.checks import need
from refold.errors import StoreError
from refold.stores.base import Removed
from refold.stores.bundles import LOG, REMOVED, Bundles, Record, removal_of
from refold.stores.codec import decode_key, encode_prefix
from refold.stores.remote import TIMEOUT_SECONDS, RemoteStore, Row
from refold.stores.scope import scopes_of

_ENDPOINTS: Final = ("AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")
"""Environment variables that name a server other than Amazon's, such as MinIO."""
_LOGS_KEPT: Final = 1_000
"""The number of conversations for which the objects of originals are remembered."""
_LOOKS_AT_ONCE: Final = 32
"""How many objects are in memory at a time when a conversation is read for the first time."""


class ObjectStore(RemoteStore):
    """Keeps originals in a bucket or a folder; needs `refold[objects]`.

    *url* is `s3://bucket/path`, `gs://…`, `az://…`, `file:///folder` or what else obstore takes;
    *options* are its settings for that place, which otherwise come from the environment.

    Each put is one object. The objects of a conversation are numbered, and the first writer to
    create an object gets its number: the bucket is all that writers need to agree on an order. To
    find an original, the objects of its conversation are read once, so give conversations names:
    all those without a name count as one. The storage must support creating an object only if it
    does not exist, as all of these do.
    """

    def __init__(
        self,
        url: str,
        *,
        options: Mapping[str, Any] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        backend = _Objects(url, options or {}, timeout_seconds)
        super().__init__(
            url, backend, timeout_seconds=timeout_seconds, clock=clock, options=options
        )


@dataclass(slots=True)
class _Log:
    """What is known of the objects of a conversation, read in the order of their numbers."""

    last: int = -1
    """The number of the last object; -1 before the first look."""
    rows: dict[bytes, tuple[int, Row]] = field(default_factory=dict)
    """For each key, the number of the first object that has it, and its row."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while new objects are read or added."""

    def add(self, number: int, records: Sequence[Record]) -> None:
        """Note the content of the next object: originals, or removals of earlier ones."""
        self.last = number
        removed = {record.key for record in records if record.key.startswith(REMOVED)}
        if REMOVED in removed:
            self.rows.clear()
        elif removed:
            self.rows = {k: row for k, row in self.rows.items() if removal_of(k) not in removed}
        for key, written_at, value in records:
            if not key.startswith(REMOVED) and key not in self.rows:
                size = len(key) + len(value)
                self.rows[key] = (number, Row(key, size, written_at))


class _Objects:
    """Speaks to the storage."""

    def __init__(self, url: str, options: Mapping[str, Any], timeout_seconds: float) -> None:
        need("obstore.exceptions", "objects", what="an ObjectStore", error=StoreError)
        self._obstore = need("obstore", "objects")
        self._url = url
        self._options = options
        self._timeout_seconds = timeout_seconds
        self._logs: OrderedDict[str, _Log] = OrderedDict()
        self._bundles: Bundles

    async def open(self) -> None:
        """Check that the place can be read."""
        bucket = _bucket(self._url, self._options, self._timeout_seconds)
        self._bundles = Bundles(self._obstore, bucket)
        await self._numbers(LOG)

    async def close(self) -> None:
        """Do nothing: obstore keeps nothing open."""

    async def known(self, keys: Sequence[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        for path, wanted in _by_log(keys, lambda key: key).items():
            log = self._log(path)
            async with log.lock:
                await self._catch_up(path, log)
            found.update(key for key in wanted if key in log.rows)
        return found

    async def write(self, records: Sequence[tuple[bytes, bytes]], now: float) -> None:
        """Add one object to each conversation, unless it already has all records."""
        for path, group in _by_log(records, lambda record: record[0]).items():
            log = self._log(path)
            async with log.lock:
                await self._write_log(path, log, group, now)

    async def _write_log(
        self, path: str, log: _Log, group: Sequence[tuple[bytes, bytes]], now: float
    ) -> None:
        """Write under the next free number; read what other writers add meanwhile."""
        if log.last < 0:
            await self._catch_up(path, log)
        while True:
            fresh = [Record(k, now, value) for k, value in group if k not in log.rows]
            if not fresh or await self._append(path, log, fresh):
                return

    async def _append(self, path: str, log: _Log, records: Sequence[Record]) -> bool:
        """Write under the next number; if another writer has it, catch up and return false."""
        number = log.last + 1
        if await self._bundles.create(path, number, records):
            log.add(number, records)
            return True
        await self._catch_up(path, log)
        return False

    async def read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Read the objects that have *keys*; look for new ones if some are not known."""
        found: dict[bytes, bytes] = {}
        for path, wanted in _by_log(keys, lambda key: key).items():
            log = self._log(path)
            await self._collect(path, log, wanted, found)
            missing = [key for key in wanted if key not in found]
            if missing:
                async with log.lock:
                    await self._catch_up(path, log)
                await self._collect(path, log, missing, found)
        return found

    async def _collect(
        self, path: str, log: _Log, wanted: Sequence[bytes], found: dict[bytes, bytes]
    ) -> None:
        """Add the records of *wanted* keys whose objects are known to *found*."""
        places = {key: log.rows[key][0] for key in wanted if key in log.rows}
        numbers = sorted(set(places.values()))
        read = await self._bundles.read_many(path, numbers)
        for number, records in zip(numbers, read, strict=True):
            # Records that were removed meanwhile are no longer in it.
            found.update((r.key, r.value) for r in records if places.get(r.key) == number)

    async def rows(self, prefix: str) -> AsyncIterator[Sequence[Row]]:
        """Yield the rows of each conversation."""
        begin = encode_prefix(prefix)
        async for path in self._logs_under(prefix):
            log = _Log()
            await self._catch_up(path, log)
            rows = [row for _, row in log.rows.values() if row.key.startswith(begin)]
            if rows:
                yield rows

    async def remove(self, prefix: str, before: float | None) -> Removed:
        """Add an object to each conversation that says what is removed, then overwrite the records.

        The first step removes them for everybody, including processes that have seen them and would
        otherwise not store them again.
        """
        entries = size = 0
        async for path in self._logs_under(prefix):
            log = self._log(path)
            async with log.lock:
                gone = await self._remove_from(path, log, prefix, before)
            entries, size = entries + len(gone), size + sum(row.size for row in gone)
        return Removed(entries, size)

    async def _remove_from(
        self, path: str, log: _Log, prefix: str, before: float | None
    ) -> list[Row]:
        """Remove from one conversation; return the removed rows."""
        begin = encode_prefix(prefix)
        await self._catch_up(path, log)
        while True:
            gone = [
                row
                for _, row in log.rows.values()
                if row.key.startswith(begin) and row.may_be_removed(prefix, before)
            ]
            is_all = len(gone) == len(log.rows)
            notes = [REMOVED] if is_all else [removal_of(row.key) for row in gone]
            if not gone or await self._append(path, log, [Record(n, 0.0, b"") for n in notes]):
                break
        await self._purge(path, log)
        return gone

    async def _purge(self, path: str, log: _Log) -> None:
        """Rewrite objects without removed records, including those of an interrupted removal.

        Not even an empty object is deleted: its number could be reused, and processes that have
        already read later objects would never look there.
        """
        for number in range(1, log.last + 1):
            records = await self._bundles.read(path, number) or []
            left = [r for r in records if r.key.startswith(REMOVED) or _is_in(log, number, r.key)]
            if len(left) < len(records):
                await self._bundles.replace(path, number, left)

    async def count(self) -> int:
        entries = 0
        async for page in self.rows(""):
            entries += len(page)
        return entries

    def is_transient(self, error: Exception) -> bool:
        """Treat generic errors, which have no known cause, as temporary."""
        return isinstance(error, self._obstore.exceptions.GenericError)

    def advise(self, error: Exception) -> str:
        errors = self._obstore.exceptions
        match error:
            case errors.PermissionDeniedError() | errors.UnauthenticatedError() | PermissionError():
                return "access is denied; check the credentials and their rights"
            case errors.NotFoundError():
                return "there is no such bucket; create it first"
            case errors.GenericError() | OSError():
                return "the storage cannot be reached or refuses; check its address and free space"
        return ""

    def _log(self, path: str) -> _Log:
        """Return the log of a conversation, which is empty at first."""
        log = self._logs.pop(path, None) or _Log()
        self._logs[path] = log
        if len(self._logs) > _LOGS_KEPT:
            self._logs.popitem(last=False)
        return log

    async def _catch_up(self, path: str, log: _Log) -> None:
        """Read the objects that were added since the last time; all of them the first time."""
        if log.last < 0:
            numbers = await self._numbers(path)
            log.last = 0
            for start in range(0, len(numbers), _LOOKS_AT_ONCE):
                some = numbers[start : start + _LOOKS_AT_ONCE]
                read = await self._bundles.read_many(path, some)
                for number, records in zip(some, read, strict=True):
                    log.add(number, records)
        while (added := await self._bundles.read(path, log.last + 1)) is not None:
            log.add(log.last + 1, added)

    async def _numbers(self, path: str) -> list[int]:
        """Return the numbers of the objects of a conversation, in order."""
        return [number async for _, number in self._bundles.places(path)]

    async def _logs_under(self, prefix: str) -> AsyncIterator[str]:
        """Yield each conversation that may have keys with *prefix*."""
        names, rest = scopes_of(prefix)
        # The rest of a prefix begins a key in that scope, or the name of an inner scope.
        is_inner = not rest or "scope:".startswith(rest[:6])
        path = _folder(names) if is_inner else f"{_folder(names)}/{LOG}".lstrip("/")
        for folder in sorted({folder async for folder, _ in self._bundles.places(path)}):
            yield folder


def _bucket(url: str, options: Mapping[str, Any], timeout_seconds: float) -> Any:
    """Return the store object of obstore for *url*."""
    from obstore.store import LocalStore, MemoryStore, from_url

    parts = urlsplit(url)
    if parts.scheme == "file":
        return LocalStore(Path(unquote(parts.path)), mkdir=True)
    if parts.scheme == "memory":
        return MemoryStore()
    limit = timedelta(seconds=timeout_seconds)
    client: dict[str, Any] = {"timeout": limit, "connect_timeout": limit}
    named = [value for name, value in options.items() if "endpoint" in name.lower()]
    named += [os.environ.get(name) for name in _ENDPOINTS]
    if any(str(address).startswith("http://") for address in named):
        client["allow_http"] = True  # an http:// address is explicit consent
    retries = {"max_retries": 3, "retry_timeout": limit}
    return from_url(url, config=dict(options), client_options=client, retry_config=retries)


def _by_log(items: Sequence[Any], key_of: Callable[[Any], bytes]) -> dict[str, list[Any]]:
    """Group *items* by the conversation of their key."""
    groups: dict[str, list[Any]] = {}
    for item in items:
        names, _ = scopes_of(decode_key(key_of(item)))
        groups.setdefault(f"{_folder(names)}/{LOG}".lstrip("/"), []).append(item)
    return groups


def _is_in(log: _Log, number: int, key: bytes) -> bool:
    """Return whether the object of that *number* is the valid one for *key*."""
    return key in log.rows and log.rows[key][0] == number


def _folder(names: Sequence[str]) -> str:
    """Return the folder of nested scopes, the inner one inside of the wider one.

    Names are hashed, since they may be long, odd or private.
    """
    hashes = (blake2b(n.encode("utf-8", "surrogatepass"), digest_size=16) for n in names)
    return "/".join(f"scope-{made.hexdigest()}" for made in hashes)
