from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any

import pytest

from refold.errors import StoreError
from refold.stores import MemoryStore

from .contract import WholeStoreContract, nested


class Foreign:
    """An object from somebody else's library, in a field we do not know."""

    def __init__(self, items: list[str]) -> None:
        self.items = items


class TestMemoryStore(WholeStoreContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()

    @pytest.mark.parametrize(
        "value",
        [
            (1, [2]),
            {1: "a", None: "b", (1, 2): "c"},
            {1, 2},
            b"bytes",
            OrderedDict(a=1),
            datetime(2024, 1, 1, tzinfo=UTC),
            len,
        ],
        ids=repr,
    )
    def test_takes_any_python_value(self, store: MemoryStore, value: object) -> None:
        store.put({"a": value})
        (answer,) = store.get(["a"]).values()
        assert answer == value
        assert type(answer) is type(value)

    def test_foreign_objects_are_copied_both_ways(self, store: MemoryStore) -> None:
        foreign = Foreign(["original"])
        store.put({"a": {"extra": [foreign]}})
        foreign.items.append("changed")
        answer = store.get(["a"])["a"]["extra"][0]
        assert isinstance(answer, Foreign)
        answer.items.append("changed as well")
        assert store.get(["a"])["a"]["extra"][0].items == ["original"]

    def test_one_object_twice_stays_one_object(self, store: MemoryStore) -> None:
        shared: list[Any] = []
        store.put({"a": [shared, {"again": shared}, (shared,)]})
        first, second, third = store.get(["a"])["a"]
        assert first is second["again"] is third[0]
        assert first is not shared

    def test_a_value_that_contains_itself(self, store: MemoryStore) -> None:
        loop: list[Any] = []
        loop.append(loop)
        store.put({"a": loop})
        answer = store.get(["a"])["a"]
        assert answer[0] is answer
        assert answer is not loop

    def test_nesting_of_any_depth(self, store: MemoryStore) -> None:
        store.put({"a": nested(50_000)})
        depth, inner = 0, store.get(["a"])["a"]
        while inner:
            depth, inner = depth + 1, inner[0]
        assert depth == 49_999

    def test_what_cannot_be_copied_is_refused_whole(self, store: MemoryStore) -> None:
        with pytest.raises(StoreError, match=r"'bad key' cannot be copied \(TypeError: .*lock"):
            store.put({"good": 1, "bad key": {"extra": threading.Lock()}})
        assert store.get(["good", "bad key"]) == {}

    def test_repr_is_short(self, store: MemoryStore) -> None:
        store.put({"a": "x" * 10_000})
        assert repr(store) == "MemoryStore(entries=1)"
