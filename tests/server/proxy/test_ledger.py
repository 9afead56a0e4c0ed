"""What one request puts is written at once, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from refold.errors import StoreError
from refold.server.proxy.ledger import Outbox, Writer
from refold.stores.memory import MemoryStore


class Watched:
    """A store that notes what is put, and refuses what is bad."""

    def __init__(self) -> None:
        self.inner = MemoryStore()
        self.puts: list[list[str]] = []

    def put(self, entries: Mapping[str, Any]) -> None:
        if "bad" in entries:
            raise StoreError("this cannot be stored")
        self.puts.append(sorted(entries))
        self.inner.put(entries)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        return self.inner.get(keys)


def test_several_puts_are_one_and_are_found_before() -> None:
    watched = Watched()
    outbox = Outbox(watched)
    outbox.put({"a": [1]})
    outbox.put({"b": 2, "a": "later"})
    assert outbox.get(["a", "b", "c"]) == {"a": [1], "b": 2}
    outbox.get(["a"])["a"].append("mine")
    assert watched.puts == []
    asyncio.run(Writer(watched).write(outbox.take()))
    assert watched.puts == [["a", "b"]]
    assert outbox.get(["a", "b"]) == {"a": [1], "b": 2}
    assert outbox.take() == {}, "what was written is not written again"


def test_who_was_there_first_is_found() -> None:
    watched = Watched()
    watched.inner.put({"a": "theirs"})
    outbox = Outbox(watched)
    outbox.put({"a": "ours"})
    assert outbox.get(["a"]) == {"a": "theirs"}


def test_what_is_put_while_it_is_emptied_is_taken_once() -> None:
    outbox, taken = Outbox(MemoryStore()), list[str]()
    numbers = range(20_000)

    def put() -> None:
        for number in numbers:
            outbox.put({f"k{number}": number})

    with ThreadPoolExecutor() as pool:
        putting = pool.submit(put)
        while not putting.done():
            taken += outbox.take()
    taken += outbox.take()
    assert sorted(taken) == sorted(f"k{number}" for number in numbers)


def test_what_several_requests_write_is_written_together() -> None:
    watched = Watched()
    writer = Writer(watched)

    async def write() -> None:
        await asyncio.gather(*(writer.write({"a": n, f"b{n}": n}) for n in range(5)))

    asyncio.run(write())
    assert watched.get(["a", "b4"]) == {"a": 0, "b4": 4}, "the first value of a key stays"
    assert len(watched.puts) <= 2


def test_what_cannot_be_written_harms_nothing_else() -> None:
    watched = Watched()
    writer = Writer(watched)

    async def write() -> list[BaseException | None]:
        entries = [{"a": 1}, {"bad": 1}, {"b": 1}]
        return await asyncio.gather(*map(writer.write, entries), return_exceptions=True)

    first, second, third = asyncio.run(write())
    assert (first, third) == (None, None)
    assert isinstance(second, StoreError)
    assert watched.get(["a", "b", "bad"]) == {"a": 1, "b": 1}
    with pytest.raises(StoreError):
        asyncio.run(writer.write({"bad": 2}))
