"""Bundles: numbered objects with several records each, in one folder per conversation."""

from __future__ import annotations

import asyncio
import struct
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from refold.errors import StoreError

_MAGIC: Final = b"RFLD\x01"
_HEAD: Final = struct.Struct(">IId")
REMOVED: Final = b"\xfe"
"""The key of a record that removes everything before it; no original has it."""


class Record(NamedTuple):
    """One record of a bundle."""

    key: bytes
    written_at: float
    value: bytes


def removal_of(key: bytes) -> bytes:
    """Return the key of a record that removes *key*, without revealing it."""
    return REMOVED + blake2b(key, digest_size=16).digest()


def write_bundle(records: Iterable[Record]) -> bytes:
    """Return *records* as bytes."""
    parts = [_MAGIC]
    for record in records:
        head = _HEAD.pack(len(record.key), len(record.value), record.written_at)
        parts += (head, record.key, record.value)
    return b"".join(parts)


def read_bundle(data: bytes) -> list[Record]:
    """Undo `write_bundle`; raise `ValueError` if the data is damaged."""
    if not data.startswith(_MAGIC):
        raise ValueError("it begins like no bundle of refold's")
    records = []
    at = len(_MAGIC)
    while at < len(data):
        if at + _HEAD.size > len(data):
            raise ValueError("it is cut off")
        key_size, value_size, written_at = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        end = at + key_size + value_size
        if end > len(data):
            raise ValueError("it is cut off")
        key, value = data[at : at + key_size], data[at + key_size : end]
        records.append(Record(key, written_at, value))
        at = end
    return records


LOG: Final = "log"
"""The name of the folder with the numbered objects."""
_READS_AT_ONCE: Final = 32
"""Object stores are slow but parallel; more requests than this only queue up. A guess."""
_CACHED_BYTES: Final = 32_000_000
"""The size of the cache of objects. A batch puts about 4 MB at once and reads it back record by
record: this has room for several such objects."""


class _Read(NamedTuple):
    """An object that was read."""

    tag: str
    size: int
    records: list[Record]


class Bundles:
    """Creates, replaces and reads bundles; cached ones are only checked for changes."""

    def __init__(self, obstore: Any, bucket: Any) -> None:
        """Take the module obstore, and its store object for the bucket."""
        self._obstore = obstore
        self._bucket = bucket
        self._missing = (obstore.exceptions.NotFoundError, FileNotFoundError)
        self._reading = asyncio.Semaphore(_READS_AT_ONCE)
        self._cache: OrderedDict[str, _Read] = OrderedDict()
        self._cached_bytes = 0

    async def create(self, path: str, number: int, records: Sequence[Record]) -> bool:
        """Write an object, or return false if there already is one of that number."""
        body = write_bundle(records)
        try:
            await self._obstore.put_async(self._bucket, _place(path, number), body, mode="create")
        except self._obstore.exceptions.AlreadyExistsError:
            return False
        return True

    async def replace(self, path: str, number: int, records: Sequence[Record]) -> None:
        """Overwrite the object of that number."""
        body = write_bundle(records)
        await self._obstore.put_async(self._bucket, _place(path, number), body)

    async def read(self, path: str, number: int) -> list[Record] | None:
        """Return the current records of an object; `None` if it does not exist."""
        place = _place(path, number)
        known = self._cache.get(place)
        options = {} if known is None else {"if_none_match": known.tag}
        try:
            answer = await self._obstore.get_async(self._bucket, place, options=options)
            body = bytes(await answer.bytes_async())
        except self._obstore.exceptions.NotModifiedError:
            assert known is not None, "only cached objects are checked for changes"
            self._keep(place, known)
            return known.records
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
        """Read objects, several at a time; missing ones are left out."""

        async def one(number: int) -> list[Record]:
            async with self._reading:
                return await self.read(path, number) or []

        return await asyncio.gather(*map(one, numbers))

    async def places(self, path: str) -> AsyncIterator[tuple[str, int]]:
        """Yield the folder and the number of each object under *path*, in order."""
        names = []
        async for page in self._obstore.list(self._bucket, prefix=path or None):
            names += [str(meta["path"]) for meta in page]
        for name in sorted(names):
            folder, _, number = name.rpartition("/")
            if number.isdecimal() and folder.endswith(LOG):
                yield folder, int(number)

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


def _place(path: str, number: int) -> str:
    return f"{path}/{number:012}"
