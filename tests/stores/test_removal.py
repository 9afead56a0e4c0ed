"""Originals go when they are old or when somebody asks, and a note of it stays."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refold.errors import ConfigError
from refold.stores import MemoryStore, SqliteStore
from refold.stores.base import Removed
from refold.stores.scope import ScopedStore
from refold.stores.upkeep import expire, forget, name_digest, read_audit
from tests.tools.managing import Clock

from .talking import fold, talk, unfold

DAY = 86_400.0


def test_a_conversation_is_forgotten_and_no_other(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s.db") as store:
        views = [fold(number, store) for number in range(3)]
        removed = forget(store, "talk-1")
        assert removed.entries > 0
        assert removed.size > 0
        assert unfold(1, views[1], store) != talk(1)
        for number in (0, 2):
            assert unfold(number, views[number], store) == talk(number)


def test_what_is_forgotten_is_in_no_file_any_more(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s.db") as store:
        ScopedStore(store, "ann").put({"a": "xyzzy", "b": "plugh"})
        ScopedStore(store, "bob").put({"a": "hello"})
        forget(store, "ann")
        for file in tmp_path.iterdir():
            assert b"xyzzy" not in file.read_bytes()
            assert b"scope:3:ann" not in file.read_bytes()


def test_a_name_that_is_the_beginning_of_another() -> None:
    store = MemoryStore()
    for name in ("ann", "anna", "ann:", "an"):
        ScopedStore(store, name).put({"a": name})
    assert forget(store, "ann").entries == 1
    assert ScopedStore(store, "ann").get(["a"]) == {}
    for name in ("anna", "ann:", "an"):
        assert ScopedStore(store, name).get(["a"]) == {"a": name}


@pytest.mark.parametrize("ttl", [None, 80.0])
def test_a_conversation_of_a_tenant_and_a_whole_tenant(ttl: float | None) -> None:
    store = MemoryStore()
    clock = Clock()
    for tenant in ("acme", "zeta"):
        for name in ("ann", "bob"):
            inner = ScopedStore(store, tenant, ttl_seconds=ttl, clock=clock)
            ScopedStore(inner, name).put({"a": 1})
            clock.now += 25.0
    assert forget(store, "ann", tenant="acme").entries == 1
    assert forget(store, "ann", tenant="acme").entries == 0
    assert forget(store, tenant="zeta").entries == 2
    (left,) = store.entries("scope:4:")
    assert left.key.endswith("scope:3:bob:a")


def test_a_scope_can_be_forgotten_from_within() -> None:
    store = MemoryStore()
    tenant = ScopedStore(store, "acme")
    ScopedStore(tenant, "ann").put({"a": 1})
    ScopedStore(store, "ann").put({"a": 2})
    assert forget(tenant, "ann").entries == 1
    assert ScopedStore(store, "ann").get(["a"]) == {"a": 2}
    assert [note.stage for note in read_audit(tenant)] == ["begun", "done"]


def test_what_is_old_goes_and_the_rest_stays(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s.db", clock=clock) as store:
        ScopedStore(store, "ann").put({"a": 1})
        ScopedStore(store, "acme").put({"a": 1})
        clock.now += 10 * DAY
        ScopedStore(store, "ann").put({"b": 2})
        clock.now += 10 * DAY
        assert expire(store, older_than_seconds=15 * DAY, tenant="acme", clock=clock).entries == 1
        assert expire(store, older_than_seconds=15 * DAY, clock=clock).entries == 1
        assert ScopedStore(store, "ann").get(["a", "b"]) == {"b": 2}


def test_every_removal_is_noted_without_a_name(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = 1_000.0
    with SqliteStore(tmp_path / "s.db", clock=clock) as store:
        ScopedStore(store, "ann").put({"a": 1, "b": 2})
        forget(store, "ann", reason="asked by mail", clock=clock)
        clock.now = 9_000.0
        expire(store, older_than_seconds=60, clock=clock)
        begun, done, *later = read_audit(store)
        assert (begun.action, begun.stage, begun.entries) == ("forget", "begun", 0)
        assert (done.stage, done.entries, done.at) == ("done", 2, 1_000.0)
        assert done.conversation == name_digest("ann")
        assert done.reason == "asked by mail"
        assert [note.action for note in later] == ["expire", "expire"]
        assert later[1].before == 8_940.0
        rows = [entry.key for entry in store.entries()]
        assert not any("ann" in key for key in rows)


def test_notes_outlive_what_removes_everything(tmp_path: Path) -> None:
    make: list[Callable[[], Any]] = [MemoryStore, lambda: SqliteStore(tmp_path / "s.db")]
    for open_ in make:
        store = open_()
        forget(store, "ann")
        store.put({"a": 1, "refold:b": 2, "refold:audi": 3, "refold:audjt": 4})
        assert store.remove().entries == 4
        assert len(read_audit(store)) == 2
        assert store.remove("refold:audit:").entries == 2
        assert len(store) == 0
        if isinstance(store, SqliteStore):
            store.close()


def test_a_removal_that_breaks_off_shows() -> None:
    class Breaking(MemoryStore):
        def remove(self, prefix: str = "", *, before: float | None = None) -> Removed:
            raise ConnectionError("the line is dead")

    store = Breaking()
    with pytest.raises(ConnectionError):
        forget(store, "ann")
    assert [note.stage for note in read_audit(store)] == ["begun"]


def test_room_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with SqliteStore(path) as store:
        # What hardly packs: digests of numbers.
        ScopedStore(store, "ann").put({f"{i}": name_digest(f"{i}") * 9 for i in range(3_000)})
        forget(store, "ann")
        before = path.stat().st_size
        store.shrink()
        assert path.stat().st_size < before / 10
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_can_never_work_is_refused() -> None:
    uses: list[Callable[[], object]] = [
        lambda: forget(MemoryStore()),
        lambda: forget(MemoryStore(), ""),
        lambda: expire(MemoryStore(), older_than_seconds=-1),
    ]
    for use in uses:
        with pytest.raises(ConfigError):
            use()
