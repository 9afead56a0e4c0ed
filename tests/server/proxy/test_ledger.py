"""What one request puts is written at once, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from refold.errors import StoreError
from refold.server.proxy.ledger import JoinedStore
from refold.stores.memory import MemoryStore


class Watched:
    """A store that notes what is put, and can be full."""

    def __init__(self) -> None:
        self.inner = MemoryStore()
        self.puts: list[list[str]] = []
        self.is_full = False

    def put(self, entries: Mapping[str, Any]) -> None:
        if self.is_full:
            raise StoreError("full")
        self.puts.append(sorted(entries))
        self.inner.put(entries)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        return self.inner.get(keys)


def test_several_puts_are_one_and_are_found_before() -> None:
    watched = Watched()
    store = JoinedStore(watched)
    with store.joined():
        store.put({"a": [1]})
        store.put({"b": 2, "a": "later"})
        assert watched.puts == []
        assert store.get(["a", "b", "c"]) == {"a": [1], "b": 2}
        store.get(["a"])["a"].append("mine")
    assert watched.puts == [["a", "b"]]
    assert store.get(["a", "b"]) == {"a": [1], "b": 2}


def test_outside_each_is_written_as_it_comes() -> None:
    watched = Watched()
    store = JoinedStore(watched)
    store.put({"a": 1})
    store.put({"a": 1, "b": 2})
    assert watched.puts == [["a"], ["b"]], "what was written is not written again"


def test_who_was_there_first_is_found() -> None:
    watched = Watched()
    watched.inner.put({"a": "theirs"})
    store = JoinedStore(watched)
    with store.joined():
        store.put({"a": "ours"})
        assert store.get(["a"]) == {"a": "theirs"}


def test_nothing_is_written_when_something_goes_wrong() -> None:
    watched = Watched()
    store = JoinedStore(watched)
    with pytest.raises(ZeroDivisionError), store.joined():
        store.put({"a": 1 // len(watched.puts)})
    assert store.get(["a"]) == {}
    watched.is_full = True
    with pytest.raises(StoreError), store.joined():
        store.put({"a": 1})
    watched.is_full = False
    with store.joined():
        store.put({"a": 1})
    assert watched.puts == [["a"]], "a put that failed is made again"
