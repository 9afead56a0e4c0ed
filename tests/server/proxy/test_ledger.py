"""What one request puts is written at once, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from refold.errors import StoreError
from refold.server.proxy.ledger import JoinedStore
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
    store = JoinedStore(watched)
    with store.joined() as entries:
        store.put({"a": [1]})
        store.put({"b": 2, "a": "later"})
        assert store.get(["a", "b", "c"]) == {"a": [1], "b": 2}
        store.get(["a"])["a"].append("mine")
    assert watched.puts == []
    asyncio.run(store.write(entries))
    assert watched.puts == [["a", "b"]]
    assert store.get(["a", "b"]) == {"a": [1], "b": 2}


def test_outside_each_is_written_as_it_comes() -> None:
    watched = Watched()
    store = JoinedStore(watched)
    store.put({"a": 1})
    store.put({"b": 2})
    assert watched.puts == [["a"], ["b"]]


def test_who_was_there_first_is_found() -> None:
    watched = Watched()
    watched.inner.put({"a": "theirs"})
    store = JoinedStore(watched)
    with store.joined():
        store.put({"a": "ours"})
        assert store.get(["a"]) == {"a": "theirs"}


def test_what_several_requests_write_is_written_together() -> None:
    watched = Watched()
    store = JoinedStore(watched)

    async def write() -> None:
        await asyncio.gather(*(store.write({"a": n, f"b{n}": n}) for n in range(5)))

    asyncio.run(write())
    assert store.get(["a", "b4"]) == {"a": 0, "b4": 4}, "the first value of a key stays"
    assert len(watched.puts) <= 2


def test_what_cannot_be_written_harms_nothing_else() -> None:
    watched = Watched()
    store = JoinedStore(watched)

    async def write() -> list[BaseException | None]:
        entries = [{"a": 1}, {"bad": 1}, {"b": 1}]
        return await asyncio.gather(*map(store.write, entries), return_exceptions=True)

    first, second, third = asyncio.run(write())
    assert (first, third) == (None, None)
    assert isinstance(second, StoreError)
    assert store.get(["a", "b", "bad"]) == {"a": 1, "b": 1}
    with pytest.raises(StoreError):
        asyncio.run(store.write({"bad": 2}))
