"""A store in S3, Google Cloud Storage, Azure or a folder: one object for each put.

A bucket has no transactions, and creating an object only if there is none of its name is all that
it offers to writers who must agree. So the objects of a conversation are its log, numbered from 1:
the first writer to create a number has it, and everybody reads the objects in that order. Where two
have the same key, the first wins. What is removed is named in an object of its own, which everybody
will read; then the objects that had it are rewritten without it.

An object is a few bytes that say whose it is, and records: the sizes of key and value, the time,
key, value. Folders are named after the scopes of the keys in them.
"""

from __future__ import annotations

import asyncio
import os
import struct
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from refold.checks import need
from refold.errors import StoreError
from refold.stores.base import Entry, Removed, is_removable
from refold.stores.codec import decode_key, encode_prefix
from refold.stores.remote import TIMEOUT_SECONDS, RemoteStore
from refold.stores.scope import scopes_of

_MAGIC: Final = b"RFLD\x01"
_HEAD: Final = struct.Struct(">IId")
_REMOVED: Final = b"\xfe"
"""The key of a record that removes everything before it; no original has it. Followed by a digest,
it removes the key of that digest, which it does not reveal."""
_LOG: Final = "log"
"""The name of the folder with the numbered objects."""
_ENDPOINTS: Final = ("AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")
"""Environment variables that name a server other than Amazon's, such as MinIO."""
_LOGS_KEPT: Final = 1_000
"""The number of conversations for which the objects of originals are remembered."""
_READS_AT_ONCE: Final = 32
"""Object stores are slow but parallel; more requests than this only queue up. A guess."""
_CACHED_BYTES: Final = 32_000_000
"""The size of the cache of objects. A batch puts about 4 MB at once and reads it back record by
record: this has room for several such objects."""


class Record(NamedTuple):
    """One record of an object."""

    key: bytes
    written_at: float
    value: bytes


def write_bundle(records: Iterable[Record]) -> bytes:
    """Return *records* as the bytes of an object."""
    parts = [_MAGIC]
    for key, written_at, value in records:
        parts += (_HEAD.pack(len(key), len(value), written_at), key, value)
    return b"".join(parts)


def read_bundle(data: bytes) -> list[Record]:
    """Undo `write_bundle`; raise `ValueError` if the data is damaged."""
    if not data.startswith(_MAGIC):
        raise ValueError("it does not begin like a bundle of refold")
    records = []
    at = len(_MAGIC)
    while at < len(data):
        start = at + _HEAD.size
        if start > len(data):
            raise ValueError("it is cut off")
        key_size, value_size, written_at = _HEAD.unpack_from(data, at)
        middle, at = start + key_size, start + key_size + value_size
        if at > len(data):
            raise ValueError("it is cut off")
        records.append(Record(data[start:middle], written_at, data[middle:at]))
    return records


@dataclass(slots=True)
class _Log:
    """What is known of the objects of a conversation, read in the order of their numbers."""

    path: str
    last: int = -1
    """The number of the last object; -1 before the first look."""
    known: dict[bytes, tuple[int, int, float]] = field(default_factory=dict)
    """For each key, the number of the first object that has it, its size and its time."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while new objects are read or added."""

    def add(self, number: int, records: Sequence[Record]) -> None:
        """Note the content of the next object: originals, or removals of earlier ones."""
        self.last = number
        removed = {record.key for record in records if record.key.startswith(_REMOVED)}
        if _REMOVED in removed:
            self.known.clear()
        elif removed:
            self.known = {k: v for k, v in self.known.items() if _removal_of(k) not in removed}
        for key, written_at, value in records:
            if not key.startswith(_REMOVED) and key not in self.known:
                self.known[key] = (number, len(key) + len(value), written_at)

    def find(self, prefix: str) -> dict[bytes, Entry]:
        """Return the entries whose keys begin with *prefix*."""
        begin = encode_prefix(prefix)
        return {
            key: Entry(decode_key(key), size, written_at)
            for key, (_, size, written_at) in self.known.items()
            if key.startswith(begin)
        }


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
        self._errors = need(
            "obstore.exceptions", "objects", what="an ObjectStore", error=StoreError
        )
        self._options = options or {}
        self._objects: _Objects
        self._logs: OrderedDict[str, _Log] = OrderedDict()
        super().__init__(url, timeout_seconds=timeout_seconds, clock=clock, options=options)

    async def _open(self) -> None:
        """Check that the place can be read; nothing is kept open."""
        self._objects = _Objects(_bucket(self._url, self._options, self._timeout_seconds))
        await self._objects.numbers(_LOG)

    async def _known(self, keys: Sequence[bytes]) -> set[bytes]:
        known: set[bytes] = set()
        for log, wanted in self._by_log(keys):
            async with log.lock:
                await self._catch_up(log)
            known.update(key for key in wanted if key in log.known)
        return known

    async def _write(self, records: Sequence[tuple[bytes, bytes]], now: float) -> None:
        """Add one object to each conversation, unless it already has all records."""
        values = dict(records)
        for log, keys in self._by_log(values):
            async with log.lock:
                if log.last < 0:
                    await self._catch_up(log)
                while True:
                    fresh = [Record(k, now, values[k]) for k in keys if k not in log.known]
                    if not fresh or await self._append(log, fresh):
                        break

    async def _append(self, log: _Log, records: Sequence[Record]) -> bool:
        """Write under the next number; if another writer has it, catch up and return false."""
        number = log.last + 1
        if await self._objects.write(log.path, number, records, "create"):
            log.add(number, records)
            return True
        await self._catch_up(log)
        return False

    async def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Read the objects that have *keys*; look for new ones if some are not known."""
        values: dict[bytes, bytes] = {}
        for log, wanted in self._by_log(keys):
            values |= await self._collect(log, wanted)
            missing = [key for key in wanted if key not in values]
            if missing:
                async with log.lock:
                    await self._catch_up(log)
                values |= await self._collect(log, missing)
        return values

    async def _collect(self, log: _Log, wanted: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of *wanted* keys whose objects are known."""
        number_of = {key: log.known[key][0] for key in wanted if key in log.known}
        numbers = sorted(set(number_of.values()))
        bundles = await self._objects.read_many(log.path, numbers)
        return {
            record.key: record.value
            for number, records in zip(numbers, bundles, strict=True)
            for record in records  # without those that were removed meanwhile
            if number_of.get(record.key) == number
        }

    async def _pages(self, prefix: str) -> AsyncIterator[Sequence[Entry]]:
        """Yield the entries of each conversation."""
        for path in await self._paths_under(prefix):
            log = _Log(path)
            await self._catch_up(log)
            yield list(log.find(prefix).values())

    async def _remove(self, prefix: str, before: float | None) -> Removed:
        """Add an object to each conversation that says what is removed, then overwrite the records.

        The first step removes them for everybody, including processes that have seen them and would
        otherwise not store them again.
        """
        parts = []
        for path in await self._paths_under(prefix):
            log = self._log(path)
            async with log.lock:
                await self._catch_up(log)
                while True:
                    gone = {
                        key: entry.size
                        for key, entry in log.find(prefix).items()
                        if is_removable(entry, prefix, before)
                    }
                    is_all = len(gone) == len(log.known)
                    names = [_REMOVED] if is_all else map(_removal_of, gone)
                    notes = [Record(name, 0.0, b"") for name in names]
                    if not gone or await self._append(log, notes):
                        break
                await self._purge(log)
            parts.append(Removed(len(gone), sum(gone.values())))
        return Removed.total(parts)

    async def _purge(self, log: _Log) -> None:
        """Rewrite objects without removed records, including those of an interrupted removal.

        Not even an empty object is deleted: its number could be reused, and processes that have
        already read later objects would never look there.
        """
        for number in range(1, log.last + 1):
            records = await self._objects.read(log.path, number) or []
            left = [
                record
                for record in records
                if record.key.startswith(_REMOVED)
                or (record.key in log.known and log.known[record.key][0] == number)
            ]
            if len(left) < len(records):
                await self._objects.write(log.path, number, left)

    async def _count(self) -> int:
        return sum([len(page) async for page in self._pages("")])

    def _judge(self, error: Exception) -> tuple[str, bool]:
        """Treat generic errors, which have no known cause, as temporary."""
        errors = self._errors
        match error:
            case errors.PermissionDeniedError() | errors.UnauthenticatedError() | PermissionError():
                return "access is denied; check the credentials and their rights", False
            case errors.NotFoundError():
                return "there is no such bucket; create it first", False
            case errors.GenericError() | OSError():
                advice = (
                    "the storage cannot be reached or refuses; check its address and free space"
                )
                return advice, isinstance(error, errors.GenericError)
        return "", False

    def _by_log(self, keys: Iterable[bytes]) -> list[tuple[_Log, list[bytes]]]:
        """Group *keys* by conversation."""
        groups: dict[str, list[bytes]] = {}
        for key in keys:
            names, _ = scopes_of(decode_key(key))
            groups.setdefault(f"{_folder(names)}/{_LOG}".lstrip("/"), []).append(key)
        return [(self._log(path), group) for path, group in groups.items()]

    def _log(self, path: str) -> _Log:
        """Return the log of a conversation, which is empty at first."""
        log = self._logs.pop(path, None) or _Log(path)
        self._logs[path] = log
        if len(self._logs) > _LOGS_KEPT:
            self._logs.popitem(last=False)
        return log

    async def _catch_up(self, log: _Log) -> None:
        """Read the objects that were added since the last time; all of them the first time."""
        if log.last < 0:
            numbers = await self._objects.numbers(log.path)
            log.last = 0
            for start in range(0, len(numbers), _READS_AT_ONCE):  # so many are in memory
                some = numbers[start : start + _READS_AT_ONCE]
                bundles = await self._objects.read_many(log.path, some)
                for number, records in zip(some, bundles, strict=True):
                    log.add(number, records)
        while (added := await self._objects.read(log.path, log.last + 1)) is not None:
            log.add(log.last + 1, added)

    async def _paths_under(self, prefix: str) -> list[str]:
        """Return the folder of each conversation that may have keys with *prefix*."""
        names, rest = scopes_of(prefix)
        # The rest of a prefix begins a key in that scope, or the name of an inner scope.
        is_inner = not rest or "scope:".startswith(rest[:6])
        path = _folder(names) if is_inner else f"{_folder(names)}/{_LOG}".lstrip("/")
        return sorted({folder for folder, _ in await self._objects.places(path)})


class _Read(NamedTuple):
    """An object that was read."""

    tag: str
    size: int
    records: list[Record]


class _Objects:
    """Creates, replaces and reads objects; cached ones are only checked for changes."""

    def __init__(self, bucket: Any) -> None:
        self._obstore = need("obstore", "objects")
        self._bucket = bucket
        self._missing = (self._obstore.exceptions.NotFoundError, FileNotFoundError)
        self._reading = asyncio.Semaphore(_READS_AT_ONCE)
        self._cache: OrderedDict[str, _Read] = OrderedDict()
        self._cached_bytes = 0

    async def write(
        self, path: str, number: int, records: Sequence[Record], mode: str = "overwrite"
    ) -> bool:
        """Write an object; with *mode* `create`, return false if there already is one."""
        place, body = _place(path, number), write_bundle(records)
        try:
            await self._obstore.put_async(self._bucket, place, body, mode=mode)
        except self._obstore.exceptions.AlreadyExistsError:
            return False
        return True

    async def read(self, path: str, number: int) -> list[Record] | None:
        """Return the current records of an object; `None` if it does not exist."""
        place = _place(path, number)
        cached = self._cache.get(place)
        options = {} if cached is None else {"if_none_match": cached.tag}
        try:
            answer = await self._obstore.get_async(self._bucket, place, options=options)
            body = bytes(await answer.bytes_async())
        except self._obstore.exceptions.NotModifiedError:
            assert cached is not None, "only cached objects are checked for changes"
            self._keep(place, cached)
            return cached.records
        except self._missing:
            self._drop(place)
            return None
        try:
            records = read_bundle(body)
        except ValueError as error:
            raise StoreError(f"the object {place!r} is damaged ({error})") from error
        self._keep(place, _Read(answer.meta["e_tag"] or "", len(body), records))
        return records

    async def read_many(self, path: str, numbers: Sequence[int]) -> list[list[Record]]:
        """Read objects, several at a time; missing ones are empty."""

        async def one(number: int) -> list[Record]:
            async with self._reading:
                return await self.read(path, number) or []

        return await asyncio.gather(*map(one, numbers))

    async def places(self, path: str) -> list[tuple[str, int]]:
        """Return the folder and the number of each object under *path*, in order."""
        names: list[str] = []
        async for page in self._obstore.list(self._bucket, prefix=path or None):
            names += [str(meta["path"]) for meta in page]
        parts = [name.rpartition("/") for name in sorted(names)]
        return [(f, int(n)) for f, _, n in parts if n.isdecimal() and f.endswith(_LOG)]

    async def numbers(self, path: str) -> list[int]:
        """Return the numbers of the objects of a conversation, in order."""
        return [number for _, number in await self.places(path)]

    def _keep(self, place: str, read: _Read) -> None:
        self._drop(place)
        if read.tag:
            self._cache[place] = read
            self._cached_bytes += read.size
        while self._cached_bytes > _CACHED_BYTES:
            self._drop(next(iter(self._cache)))

    def _drop(self, place: str) -> None:
        read = self._cache.pop(place, None)
        if read is not None:
            self._cached_bytes -= read.size


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


def _folder(names: Sequence[str]) -> str:
    """Return the folder of nested scopes, the inner one inside of the wider one.

    Names are hashed, since they may be long, odd or private.
    """
    hashes = (blake2b(n.encode("utf-8", "surrogatepass"), digest_size=16) for n in names)
    return "/".join(f"scope-{made.hexdigest()}" for made in hashes)


def _place(path: str, number: int) -> str:
    return f"{path}/{number:012}"


def _removal_of(key: bytes) -> bytes:
    """Return the key of a record that removes *key*, without revealing it."""
    return _REMOVED + blake2b(key, digest_size=16).digest()
