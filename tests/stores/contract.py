"""What every store does, whatever it is made of: inherit `StoreContract` and give a `store`."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refold.errors import StoreError
from refold.stores import ManagedStore, Store
from refold.stores.scope import ScopedStore

from .talking import fold, talk, unfold

SURROGATES = "\ud83d\ude00\udfff\ud800"
AWKWARD = st.text(st.sampled_from(SURROGATES + 'a\0\n"\\é\u2028😀'), max_size=6)
TEXTS = st.text(st.characters(), max_size=20) | AWKWARD
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)

EXACT: dict[str, Any] = {
    "none": None,
    "true, not 1": True,
    "one, not true": 1,
    "one point zero": 1.0,
    "minus zero": -0.0,
    "not a number": float("nan"),
    "infinities": [float("inf"), float("-inf")],
    "floats": [0.1, 1e-320, sys.float_info.max, 2.0**53 + 2],
    "big integers": [2**63, -(2**64), 10**4000],
    "empty string": "",
    "nested empties": [[], {}, [[]], {"": {}}, [{}], ""],
    "key order": {"b": 1, "a": 2, "c": {"z": 0, "y": 0}},
    "unicode": "naïve 漢字 😀 \u2028 \x00 \x7f \ufeff",
    "lone surrogate": "\ud800 text \udfff",
    "two surrogates, not one character": "\ud83d\ude00",
    "surrogate as a key": {"\udc80": "\udc80"},
    "quotes and escapes": 'a "b" \\ \\u0041 \r\n\t',
    "looks like JSON": '{"a": NaN}',
    "long": "x" * 1_000_000,
}


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


EXACT["four hundred levels"] = nested(400)


class SizedStore(ManagedStore, Protocol):
    def __len__(self) -> int: ...


class StoreContract:
    @pytest.fixture
    def store(self) -> Any:
        raise NotImplementedError("give a store to test")

    def test_is_a_store(self, store: SizedStore) -> None:
        assert isinstance(store, Store)

    def test_gives_back_what_was_put(self, store: SizedStore) -> None:
        store.put({"a": {"role": "user"}, "b": [1, 2]})
        assert store.get(["a", "b"]) == {"a": {"role": "user"}, "b": [1, 2]}

    def test_an_unknown_key_is_absent(self, store: SizedStore) -> None:
        store.put({"a": 1})
        assert store.get(["a", "nobody"]) == {"a": 1}
        assert store.get([]) == {}

    def test_a_stored_none_is_not_absent(self, store: SizedStore) -> None:
        store.put({"a": None})
        assert store.get(["a"]) == {"a": None}

    def test_keys_may_repeat_and_come_from_any_iterable(self, store: SizedStore) -> None:
        store.put({"a": 1, "b": 2})
        assert store.get(key for key in "aba") == {"a": 1, "b": 2}
        assert store.get({"b": "ignored"}) == {"b": 2}

    def test_answers_come_in_the_order_asked_for(self, store: SizedStore) -> None:
        store.put({"a": 1, "b": 2, "c": 3})
        assert list(store.get(["b", "c", "unknown", "a"])) == ["b", "c", "a"]

    def test_a_known_key_keeps_its_value(self, store: SizedStore) -> None:
        store.put({"a": "first"})
        store.put({"a": "second", "b": "new"})
        assert store.get(["a", "b"]) == {"a": "first", "b": "new"}

    def test_an_empty_put_changes_nothing(self, store: SizedStore) -> None:
        store.put({})
        assert len(store) == 0

    def test_len_counts_entries(self, store: SizedStore) -> None:
        store.put({"a": 1, "b": 2})
        store.put({"b": 2, "c": 3})
        assert len(store) == 3

    def test_an_empty_store_is_true(self, store: SizedStore) -> None:
        assert len(store) == 0
        assert store

    def test_many_keys_at_once(self, store: SizedStore) -> None:
        entries = {f"key {i}": i for i in range(5_000)}
        store.put(entries)
        assert store.get([*entries, *(f"unknown {i}" for i in range(5_000))]) == entries

    @pytest.mark.parametrize("name", EXACT)
    def test_exact_values(self, store: SizedStore, name: str) -> None:
        store.put({name: EXACT[name]})
        assert repr(store.get([name])) == repr({name: EXACT[name]})

    @given(key=TEXTS, value=VALUES)
    @settings(
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,  # one store for all examples: keys are fresh
            HealthCheck.differing_executors,  # each inheriting class runs it with its own store
        ],
    )
    def test_any_json_value_comes_back_equal(
        self, store: SizedStore, key: str, value: object
    ) -> None:
        fresh = next(f"{key}{n}" for n in count() if not store.get([f"{key}{n}"]))
        store.put({fresh: value})
        # repr, not ==: it tells True from 1 from 1.0, -0.0 from 0.0, and knows the order of keys.
        assert repr(store.get([fresh])) == repr({fresh: value})

    def test_later_changes_by_the_caller_do_not_reach_the_store(self, store: SizedStore) -> None:
        value = {"parts": [{"text": "original"}]}
        entries = {"a": value}
        store.put(entries)
        value["parts"][0]["text"] = "changed"
        value["parts"].append({})
        entries["b"] = {}
        assert store.get(["a", "b"]) == {"a": {"parts": [{"text": "original"}]}}

    def test_changes_to_an_answer_do_not_reach_the_store(self, store: SizedStore) -> None:
        store.put({"a": {"parts": [{"text": "original"}]}})
        answer = store.get(["a"])
        answer["a"]["parts"][0]["text"] = "changed"
        answer["b"] = 1
        assert store.get(["a", "b"]) == {"a": {"parts": [{"text": "original"}]}}

    @pytest.mark.parametrize("entries", [[("a", 1)], None, "a", {"good": 1, 7: 2}, {b"a": 1}])
    def test_a_put_of_something_else_is_refused_whole(
        self, store: SizedStore, entries: Any
    ) -> None:
        with pytest.raises(StoreError, match=r"put\(\) takes|must be a string, got"):
            store.put(entries)
        assert len(store) == 0

    @pytest.mark.parametrize("keys", ["key", b"key", None, 7, [7], ["a", None]])
    def test_a_get_of_something_else_is_refused(self, store: SizedStore, keys: Any) -> None:
        with pytest.raises(StoreError, match=r"get\(\) takes|must be a string, got"):
            store.get(keys)

    def test_says_what_it_holds(self, store: SizedStore) -> None:
        entries = {f"key {i}": i for i in range(1_500)}
        store.put({**entries, "0" * 40: "named by a digest", "\ud800": "odd", "": "empty"})
        assert sorted(entry.key for entry in store.entries()) == sorted(
            [*entries, "0" * 40, "\ud800", ""]
        )

    def test_says_what_begins_with_a_prefix(self, store: SizedStore) -> None:
        for name in ("ann", "anna", "[a-n]*"):
            ScopedStore(store, name).put({"k": 1, "f" * 40: 2})
        store.put({"k": 1})
        assert {entry.key for entry in store.entries("scope:3:ann:")} == {
            "scope:3:ann:k",
            "scope:3:ann:" + "f" * 40,
        }
        assert len(list(store.entries("scope:6:[a-n]*:"))) == 2
        assert len(list(store.entries("scope:"))) == 6
        assert list(store.entries("nobody")) == []

    def test_removes_what_begins_with_a_prefix_and_nothing_else(self, store: SizedStore) -> None:
        inner = ScopedStore(store, "ann")
        for scope in (inner, ScopedStore(store, "bob"), ScopedStore(inner, "deep")):
            scope.put({"k": 1, "f" * 40: 2})
        store.put({"k": 3})
        assert store.remove("scope:3:ann:").entries == 4
        assert store.remove("scope:3:ann:").entries == 0
        assert inner.get(["k", "f" * 40]) == {}
        assert ScopedStore(store, "bob").get(["k", "f" * 40]) == {"k": 1, "f" * 40: 2}
        assert store.get(["k"]) == {"k": 3}
        inner.put({"k": "again"})
        assert inner.get(["k"]) == {"k": "again"}
        assert store.remove().entries == 4
        assert len(store) == 0

    def test_what_was_folded_unfolds(self, store: SizedStore) -> None:
        views = [fold(number, store) for number in range(3)]
        for number, view in enumerate(views):
            assert unfold(number, view, store) == talk(number)

    def test_eight_threads_at_once(self, store: SizedStore) -> None:
        start = Barrier(8)

        def work(worker: int) -> None:
            start.wait()
            for i in range(25):
                store.put({f"{worker}/{i}": [worker, i], f"shared/{i}": i})
                mine = f"{worker}/{i}"
                assert store.get([mine, f"shared/{i}"]) == {mine: [worker, i], f"shared/{i}": i}

        with ThreadPoolExecutor(8) as pool:
            for done in [pool.submit(work, worker) for worker in range(8)]:
                done.result()
        assert len(store) == 8 * 25 + 25


class WholeStoreContract(StoreContract):
    """What holds for a store that is no part of another one."""

    def test_notes_of_removals_stay_until_they_are_named(self, store: SizedStore) -> None:
        store.put({"k": 3, "refold:audit:1": "a note", "refold:audit": 1, "refold:auditor": 2})
        assert store.remove().entries == 3
        assert store.get(["refold:audit:1"]) == {"refold:audit:1": "a note"}
        assert store.remove("refold:").entries == 0
        assert store.remove("refold:audit:").entries == 1
        assert len(store) == 0
