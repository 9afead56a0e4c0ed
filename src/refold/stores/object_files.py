"""Bundles as objects in a bucket or a folder: numbered, those of a conversation in one place."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NamedTuple

from refold.errors import StoreError
from refold.stores.bundle import Record, read_bundle, write_bundle

LOG: Final = "log"
"""What the folder of numbered objects is called."""
_READS_AT_ONCE: Final = 32
_CACHED_BYTES: Final = 32_000_000
"""How much of what was read is kept. A batch puts about 4 MB at once, and asks for what is in them
record by record: this has room for several."""


class _Read(NamedTuple):
    """An object that was read."""

    tag: str
    size: int
    records: list[Record]


class Bundles:
    """Creates, replaces and reads bundles; one that was read lately is only asked for changes."""

    def __init__(self, obstore: Any, bucket: Any) -> None:
        """Take the module obstore, and its way to the bucket."""
        self._obstore = obstore
        self._bucket = bucket
        self._missing = (obstore.exceptions.NotFoundError, FileNotFoundError)
        self._reading = asyncio.Semaphore(_READS_AT_ONCE)
        self._cache: OrderedDict[str, _Read] = OrderedDict()
        self._cached_bytes = 0

    async def create(self, path: str, number: int, records: Sequence[Record]) -> bool:
        """Write an object; return false, and leave it, if there is one of that number."""
        body = write_bundle(records)
        try:
            await self._obstore.put_async(self._bucket, _place(path, number), body, mode="create")
        except self._obstore.exceptions.AlreadyExistsError:
            return False
        return True

    async def replace(self, path: str, number: int, records: Sequence[Record]) -> None:
        """Write an object over the one of that number."""
        body = write_bundle(records)
        await self._obstore.put_async(self._bucket, _place(path, number), body)

    async def read(self, path: str, number: int) -> list[Record] | None:
        """Return what is in an object now; `None` if there is none."""
        place = _place(path, number)
        known = self._cache.get(place)
        options = {} if known is None else {"if_none_match": known.tag}
        try:
            answer = await self._obstore.get_async(self._bucket, place, options=options)
            body = bytes(await answer.bytes_async())
        except self._obstore.exceptions.NotModifiedError:
            assert known is not None, "nothing else is asked for changes"
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
        """Read objects, several at a time; of one that is not there, there is nothing."""

        async def one(number: int) -> list[Record]:
            async with self._reading:
                return await self.read(path, number) or []

        return await asyncio.gather(*map(one, numbers))

    async def places(self, path: str) -> AsyncIterator[tuple[str, int]]:
        """Yield the conversation and the number of every object under *path*, in order."""
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
