"""Nobody reads a store without its key, and nobody changes it unseen."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refold.errors import ConfigError, StoreError
from refold.stores import MemoryStore, SqliteStore
from refold.stores.encrypted import EncryptedStore
from refold.stores.scope import ScopedStore
from refold.stores.upkeep import copy_store

from .awaited import Awaited
from .contract import WholeStoreContract
from .talking import fold, talk, unfold

pytest.importorskip("cryptography", reason="cryptography is not installed")

OLD, NEW = bytes(range(32)), bytes(range(32, 64))


class TestEncryptedMemoryStore(WholeStoreContract):
    @pytest.fixture
    def store(self) -> EncryptedStore:
        return EncryptedStore(MemoryStore(), OLD)


class TestEncryptedSqliteStore(WholeStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[EncryptedStore]:
        with EncryptedStore(SqliteStore(tmp_path / "s.db"), [NEW, OLD]) as store:
            yield store


class TestEncryptedStoreAwaited(WholeStoreContract):
    @pytest.fixture
    def store(self) -> Iterator[Awaited]:
        awaited = Awaited(EncryptedStore(MemoryStore(), OLD))
        yield awaited
        awaited.close()


def test_nothing_that_was_said_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with EncryptedStore(SqliteStore(path), OLD) as store:
        view = fold(1, store)
        assert unfold(1, view, store) == talk(1)
        for file in tmp_path.iterdir():
            assert b"what was seen" not in file.read_bytes()
    with SqliteStore(path) as plain:
        assert unfold(1, view, plain) != talk(1)


def test_encrypted_originals_take_hardly_more_room(tmp_path: Path) -> None:
    entries = {f"{i}": " ".join(str(j * i) for j in range(300)) for i in range(100)}
    sizes = []
    for keys in ((), (OLD,)):
        with SqliteStore(tmp_path / f"{len(keys)}.db") as store:
            (EncryptedStore(store, keys) if keys else store).put(entries)
            sizes.append(sum(entry.size for entry in store.entries()))
    assert sizes[1] < 1.15 * sizes[0]


def test_a_new_key_encrypts_and_the_old_one_still_decrypts() -> None:
    inner = MemoryStore()
    EncryptedStore(inner, OLD).put({"a": 1})
    rotated = EncryptedStore(inner, [NEW, OLD])
    rotated.put({"b": 2})
    assert rotated.get(["a", "b"]) == {"a": 1, "b": 2}
    assert EncryptedStore(inner, NEW).get(["b"]) == {"b": 2}
    with pytest.raises(StoreError, match="'a' cannot be decrypted: it needs the key"):
        EncryptedStore(inner, NEW).get(["a"])
    with pytest.raises(StoreError, match="'b' cannot be decrypted: it needs the key"):
        EncryptedStore(inner, OLD).get(["b"])


def test_a_copy_retires_an_old_key() -> None:
    first, second = MemoryStore(), MemoryStore()
    EncryptedStore(first, OLD).put({"a": 1, "b": [2]})
    assert copy_store(EncryptedStore(first, [NEW, OLD]), EncryptedStore(second, [NEW, OLD])) == 2
    assert EncryptedStore(second, NEW).get(["a", "b"]) == {"a": 1, "b": [2]}


def change_letter(text: str, place: int) -> str:
    return text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]


@pytest.mark.parametrize("place", [10, 20, 30, 60])
def test_a_changed_value_is_refused(place: int) -> None:
    inner, other = MemoryStore(), MemoryStore()
    EncryptedStore(inner, OLD).put({"a": "a text that is long enough to have a middle"})
    other.put({"a": change_letter(inner.get(["a"])["a"], place)})
    with pytest.raises(StoreError, match=r"MemoryStore\(.*: the value of 'a' cannot be decrypted"):
        EncryptedStore(other, OLD).get(["a"])


def test_a_value_under_another_key_is_refused() -> None:
    inner, other = MemoryStore(), MemoryStore()
    EncryptedStore(inner, OLD).put({"a": 1})
    other.put({"b": inner.get(["a"])["a"]})
    with pytest.raises(StoreError, match="damaged, or was put under another key"):
        EncryptedStore(other, OLD).get(["b"])


@pytest.mark.parametrize("value", ["plain", 7, None, "sealed:???", "sealed:"])
def test_what_was_not_encrypted_is_not_believed(value: Any) -> None:
    inner = MemoryStore()
    inner.put({"a": value})
    with pytest.raises(StoreError, match="the value of 'a'"):
        EncryptedStore(inner, OLD).get(["a"])


def test_the_same_value_never_looks_the_same_twice() -> None:
    stores = [MemoryStore(), MemoryStore()]
    for inner in stores:
        EncryptedStore(inner, OLD).put({"a": 1})
    assert stores[0].get(["a"]) != stores[1].get(["a"])


def test_scopes_and_encryption_in_either_order() -> None:
    for make in (
        lambda inner: ScopedStore(EncryptedStore(inner, OLD), "ann"),
        lambda inner: EncryptedStore(ScopedStore(inner, "ann"), OLD),
    ):
        inner = MemoryStore()
        make(inner).put({"a": 1})
        assert make(inner).get(["a"]) == {"a": 1}
        assert make(inner).remove().entries == 1
        assert len(inner) == 0


def test_pickles_with_its_store() -> None:
    store = EncryptedStore(MemoryStore(), OLD)
    store.put({"a": 1})
    assert pickle.loads(pickle.dumps(store)).get(["a"]) == {"a": 1}


@pytest.mark.parametrize("keys", [b"", b"short", "x" * 32, [], [OLD, b"short"], [None]])
def test_keys_that_cannot_work(keys: Any) -> None:
    with pytest.raises(ConfigError, match="keys must be 32 bytes each"):
        EncryptedStore(MemoryStore(), keys)


def test_new_keys_differ_and_fit() -> None:
    assert EncryptedStore.new_key() != EncryptedStore.new_key()
    EncryptedStore(MemoryStore(), EncryptedStore.new_key())


def test_no_key_is_shown(tmp_path: Path) -> None:
    assert repr(EncryptedStore(MemoryStore(), OLD)) == "EncryptedStore(MemoryStore(entries=0))"
