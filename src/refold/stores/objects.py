"""A store in S3, Google Cloud Storage, Azure or a folder: one object for each put."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from refold.errors import StoreError
from refold.stores.address import public
from refold.stores.base import Removed
from refold.stores.bundle import Record, read_bundle, write_bundle
from refold.stores.key import decode_key, encode_prefix, is_removable
from refold.stores.remote import TIMEOUT_SECONDS, RemoteStore, Row
from refold.stores.scope import scopes_of

_LOG: Final = "log"
_LOGS_KEPT: Final = 1_000
"""Of how many conversations it is remembered where their originals are."""
_READS_AT_ONCE: Final = 32


class ObjectStore(RemoteStore):
    """Keeps originals in a bucket or a folder; needs `refold[objects]`.

    *url* is `s3://bucket/path`, `gs://…`, `az://…`, `file:///folder` or whatever obstore takes;
    *options* are its settings for that place, which it else finds in the environment.

    Each put is one object. Those of a conversation are numbered, and a number is taken by whoever
    creates its object first, so that writers need nothing but the bucket to agree on what was there
    first. To find an original, the objects of its conversation are read, once: give conversations
    names, or all of them are one. Storage must be able to create an object only if it is not there,
    as all of these are.
    """

    def __init__(
        self,
        url: str,
        *,
        options: Mapping[str, Any] | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = (url, options, timeout_seconds, clock)
        backend = _Objects(url, options or {}, timeout_seconds)
        super().__init__(public(url), backend, timeout_seconds=timeout_seconds, clock=clock)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy as another way to the same place."""
        return _reopen, self._settings


def _reopen(
    url: str,
    options: Mapping[str, Any] | None,
    timeout_seconds: float,
    clock: Callable[[], float],
) -> ObjectStore:
    return ObjectStore(url, options=options, timeout_seconds=timeout_seconds, clock=clock)


@dataclass(slots=True)
class _Log:
    """What is known of the objects of one conversation."""

    last: int = -1
    """The number of the last object; -1 before anybody has looked."""
    places: dict[bytes, int] = field(default_factory=dict)
    """In which object a key is; in the first that has it."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by whoever looks for new objects or adds one."""

    def add(self, number: int, records: Sequence[Record]) -> None:
        """Note what an object holds; objects may come in any order."""
        self.last = max(self.last, number)
        for record in records:
            self.places[record.key] = min(number, self.places.get(record.key, number))


class _Objects:
    """Speaks to the storage."""

    def __init__(self, url: str, options: Mapping[str, Any], timeout_seconds: float) -> None:
        try:
            import obstore
            import obstore.exceptions
        except ImportError as error:
            raise StoreError(
                "cannot open an ObjectStore: obstore is not installed; "
                "pip install 'refold[objects]'"
            ) from error
        self._obstore: Any = obstore
        self._missing = (obstore.exceptions.NotFoundError, FileNotFoundError)
        self._url = url
        self._options = options
        self._timeout_seconds = timeout_seconds
        self._logs: OrderedDict[str, _Log] = OrderedDict()
        self._reading = asyncio.Semaphore(_READS_AT_ONCE)
        self._bucket: Any = None

    async def open(self) -> None:
        """Find out whether the place can be read."""
        self._bucket = _bucket(self._url, self._options, self._timeout_seconds)
        await self._numbers(_LOG)

    async def close(self) -> None:
        """Let go of the storage."""
        self._bucket = None

    async def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of *keys* that are in an object already."""
        found: set[bytes] = set()
        for path, wanted in _by_log(keys, lambda key: key).items():
            log = self._log(path)
            async with log.lock:
                await self._catch_up(path, log)
            found.update(key for key in wanted if key in log.places)
        return found

    async def write(self, records: Sequence[tuple[bytes, bytes]], now: float) -> None:
        """Add one object to each conversation, unless all of it is there already."""
        for path, group in _by_log(records, lambda record: record[0]).items():
            log = self._log(path)
            async with log.lock:
                await self._write_log(path, log, group, now)

    async def _write_log(
        self, path: str, log: _Log, group: Sequence[tuple[bytes, bytes]], now: float
    ) -> None:
        """Take the next number; if somebody else has, look at what they wrote, and try the next."""
        if log.last < 0:
            await self._catch_up(path, log)
        while True:
            fresh = [Record(k, now, value) for k, value in group if k not in log.places]
            if not fresh:
                return
            number = log.last + 1
            try:
                await self._obstore.put_async(
                    self._bucket, _place(path, number), write_bundle(fresh), mode="create"
                )
            except self._obstore.exceptions.AlreadyExistsError:
                await self._catch_up(path, log)
            else:
                log.add(number, fresh)
                return

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
        numbers = sorted({log.places[key] for key in wanted if key in log.places})
        kept: dict[tuple[bytes, int], bytes] = {}
        for number, records in zip(numbers, await self._load(path, numbers), strict=True):
            kept.update(((record.key, number), record.value) for record in records)
        for key in wanted:
            place = log.places.get(key)
            if place is None:
                continue
            value = kept.get((key, place))
            if value is None:
                del log.places[key]  # somebody has removed it
            else:
                found[key] = value

    async def rows(self, prefix: str) -> AsyncIterator[Sequence[Row]]:
        """Yield what is in each object; records that came too late are not in the store."""
        begin = encode_prefix(prefix)
        async for path, numbers in self._logs_under(prefix):
            seen: set[bytes] = set()
            for number in numbers:
                (records,) = await self._load(path, [number])
                mine = [r for r in records if r.key.startswith(begin) and r.key not in seen]
                seen.update(record.key for record in mine)
                if mine:
                    yield [Row(r.key, r.size, r.written_at) for r in mine]

    async def remove(self, prefix: str, before: float | None) -> Removed:
        """Write each object anew without what goes; one that is empty then stays, a few bytes.

        If it were deleted its number could be given again, and those who have seen what is behind
        it would never look there.
        """
        entries = size = 0
        begin = encode_prefix(prefix)
        async for path, numbers in self._logs_under(prefix):
            seen: set[bytes] = set()
            for number in numbers:
                (records,) = await self._load(path, [number])
                gone = [
                    record
                    for record in records
                    if record.key.startswith(begin)
                    and (before is None or record.written_at < before)
                    and is_removable(prefix, decode_key(record.key))
                ]
                if gone:
                    left = [record for record in records if record not in gone]
                    body = write_bundle(left)
                    await self._obstore.put_async(self._bucket, _place(path, number), body)
                fresh = {record.key: record.size for record in gone if record.key not in seen}
                seen.update(fresh)
                entries, size = entries + len(fresh), size + sum(fresh.values())
            self._logs.pop(path, None)
        return Removed(entries, size)

    async def count(self) -> int:
        """Count what is in all objects."""
        entries = 0
        async for page in self.rows(""):
            entries += len(page)
        return entries

    def is_passing(self, error: Exception) -> bool:
        """Take it for a moment's trouble if the storage gave no reason."""
        return isinstance(error, self._obstore.exceptions.GenericError)

    def advise(self, error: Exception) -> str:
        """Say what to do about the errors that people meet."""
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
        """Return what is known of a conversation, which may be nothing yet."""
        log = self._logs.pop(path, None) or _Log()
        self._logs[path] = log
        if len(self._logs) > _LOGS_KEPT:
            self._logs.popitem(last=False)
        return log

    async def _catch_up(self, path: str, log: _Log) -> None:
        """Read the objects that were added since somebody looked; all of them the first time."""
        if log.last < 0:
            numbers = await self._numbers(path)
            log.last = max(numbers, default=0)
            for number, records in zip(numbers, await self._load(path, numbers), strict=True):
                log.add(number, records)
            return
        while (added := await self._load_one(path, log.last + 1)) is not None:
            log.add(log.last + 1, added)

    async def _numbers(self, path: str) -> list[int]:
        """Return the numbers of the objects of a conversation, in order."""
        return [number async for _, number in self._places(path)]

    async def _places(self, path: str) -> AsyncIterator[tuple[str, int]]:
        """Yield the conversation and the number of every object under *path*, in order."""
        names = []
        async for page in self._obstore.list(self._bucket, prefix=path or None):
            names += [str(meta["path"]) for meta in page]
        for name in sorted(names):
            folder, _, number = name.rpartition("/")
            if number.isdecimal() and folder.endswith(_LOG):
                yield folder, int(number)

    async def _logs_under(self, prefix: str) -> AsyncIterator[tuple[str, list[int]]]:
        """Yield every conversation with keys that may begin with *prefix*, and its objects."""
        names, rest = scopes_of(prefix)
        # What is left of a prefix is the beginning of a key in that scope, or of a scope's name.
        is_inner = not rest or "scope:".startswith(rest[:6])
        path = _folder(names) if is_inner else f"{_folder(names)}/{_LOG}".lstrip("/")
        logs: dict[str, list[int]] = {}
        async for folder, number in self._places(path):
            logs.setdefault(folder, []).append(number)
        for folder, numbers in logs.items():
            yield folder, numbers

    async def _load(self, path: str, numbers: Sequence[int]) -> list[list[Record]]:
        """Read objects, many at a time; one that was removed holds nothing."""

        async def one(number: int) -> list[Record]:
            async with self._reading:
                return await self._load_one(path, number) or []

        return await asyncio.gather(*map(one, numbers))

    async def _load_one(self, path: str, number: int) -> list[Record] | None:
        """Read an object; `None` if it is not there."""
        place = _place(path, number)
        try:
            answer = await self._obstore.get_async(self._bucket, place)
            body = await answer.bytes_async()
        except self._missing:
            return None
        try:
            return read_bundle(bytes(body))
        except ValueError as error:
            raise StoreError(f"the object {place!r} is damaged ({error})") from error


def _bucket(url: str, options: Mapping[str, Any], timeout_seconds: float) -> Any:
    """Return obstore's way to the place at *url*."""
    from obstore.store import LocalStore, MemoryStore, from_url

    parts = urlsplit(url)
    if parts.scheme == "file":
        return LocalStore(Path(unquote(parts.path)), mkdir=True)
    if parts.scheme == "memory":
        return MemoryStore()
    limit = timedelta(seconds=timeout_seconds)
    client: dict[str, Any] = {"timeout": limit, "connect_timeout": limit}
    if str(options.get("endpoint", "")).startswith("http://"):
        client["allow_http"] = True  # whoever names such an address wants it
    retries = {"max_retries": 3, "retry_timeout": limit}
    return from_url(url, config=dict(options), client_options=client, retry_config=retries)


def _by_log(items: Sequence[Any], key_of: Callable[[Any], bytes]) -> dict[str, list[Any]]:
    """Group *items* by the conversation that their key is of."""
    groups: dict[str, list[Any]] = {}
    for item in items:
        names, _ = scopes_of(decode_key(key_of(item)))
        groups.setdefault(f"{_folder(names)}/{_LOG}".lstrip("/"), []).append(item)
    return groups


def _folder(names: Sequence[str]) -> str:
    """Return where the objects of nested scopes are: names may be long, odd, or nobody's business.

    The folder of an inner scope is in that of the wider one.
    """
    hashes = (blake2b(n.encode("utf-8", "surrogatepass"), digest_size=16) for n in names)
    return "/".join(f"scope-{made.hexdigest()}" for made in hashes)


def _place(path: str, number: int) -> str:
    return f"{path}/{number:012}"
