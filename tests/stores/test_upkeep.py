"""Looking after stores: figures, soundness, copies, exports."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from refold.errors import StoreError
from refold.stores import MemoryStore, SqliteStore, Store
from refold.stores.scope import ScopedStore
from refold.stores.upkeep import copy_store, export_store, import_store, stat_store, verify_store
from tests.tools.managing import Clock

from .contract import EXACT
from .talking import fold, talk, unfold


def put_conversations(store: Store) -> None:
    ScopedStore(store, "ann").put({"a": "text", "b": 2})
    ScopedStore(ScopedStore(store, "acme"), "bob").put({"a": 1})
    store.put({"c": None})


def test_stat_counts_by_the_widest_scope(tmp_path: Path) -> None:
    clock = Clock()
    with SqliteStore(tmp_path / "s.db", clock=clock) as store:
        clock.now = 100.0
        put_conversations(store)
        clock.now = 200.0
        store.put({"d": 4})
        stat = stat_store(store)
    assert stat.entries == 5
    assert dict(stat.scopes) == {"ann": 2, "acme": 1, "": 2}
    assert stat.size == sum(stat.sizes.values()) > 0
    assert (stat.oldest, stat.newest) == (100.0, 200.0)


def test_stat_of_an_empty_store() -> None:
    stat = stat_store(MemoryStore())
    assert (stat.entries, stat.size, stat.oldest) == (0, 0, None)


def test_what_folding_has_put_is_sound(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s.db") as store:
        fold(1, store)
        fold(2, store)
        verdict = verify_store(store)
        assert verdict.entries == len(store) > 2
        assert verdict.damaged == ()


def test_damage_is_found_wherever_it_is(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s.db") as store:
        store.put({f"key {i}": ["text", i] for i in range(1_200)})
        connection = sqlite3.connect(tmp_path / "s.db")
        for key in (b"key 7", b"key 1100"):
            connection.execute("UPDATE original SET value = X'0101' WHERE key = ?", (key,))
        connection.commit()
        connection.close()
        verdict = verify_store(store)
    assert verdict.entries == 1_200
    assert sorted(verdict.damaged) == ["key 1100", "key 7"]


def test_an_original_that_is_not_what_its_key_says_is_found() -> None:
    store = MemoryStore()
    store.put({"0" * 40: {"role": "user"}})
    ScopedStore(store, "ann", ttl_seconds=60).put({"1" * 40: {"role": "user"}})
    assert len(verify_store(store).damaged) == 2


def test_a_copy_has_everything_and_overwrites_nothing() -> None:
    source, target = MemoryStore(), MemoryStore()
    put_conversations(source)
    source.put({f"many {i}": i for i in range(1_500)})
    target.put({"c": "mine"})
    told: list[float] = []
    assert copy_store(source, target, on_progress=told.append) == 1_504
    assert told[-1] == 1_504
    assert len(target) == 1_504
    assert target.get(["c", "many 7"]) == {"c": "mine", "many 7": 7}
    assert ScopedStore(target, "ann").get(["a", "b"]) == {"a": "text", "b": 2}


def test_a_conversation_can_be_copied_alone() -> None:
    source, target = MemoryStore(), MemoryStore()
    put_conversations(source)
    assert copy_store(source, target, prefix="scope:3:ann:") == 2
    assert len(target) == 2


def test_a_store_of_somebody_else_says_what_it_lacks() -> None:
    class Small:
        def put(self, entries: Any) -> None: ...

        def get(self, keys: Any) -> dict[str, Any]:
            return {}

    with pytest.raises(StoreError, match=r"Small cannot list its entries: it has no entries\(\)"):
        stat_store(Small())


# --- exports --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz", "all.jsonl.zst"])
def test_an_export_comes_back_exactly(tmp_path: Path, name: str) -> None:
    if name.endswith(".zst"):
        pytest.importorskip("zstandard", reason="zstandard is not installed")
    source, target = MemoryStore(), MemoryStore()
    source.put({**EXACT, "\ud800": "a lone surrogate as a key"})
    assert export_store(source, tmp_path / name) == len(EXACT) + 1
    assert import_store(target, tmp_path / name) == len(EXACT) + 1
    keys = [entry.key for entry in source.entries()]
    assert repr(target.get(keys)) == repr(source.get(keys))


def test_the_deepest_value_can_be_exported(tmp_path: Path) -> None:
    from .contract import nested

    with SqliteStore(tmp_path / "s.db") as store:
        store.put({"a": nested(500)})
        export_store(store, tmp_path / "all.jsonl")
    again = MemoryStore()
    import_store(again, tmp_path / "all.jsonl")
    assert again.get(["a"]) == {"a": nested(500)}


def test_what_was_folded_unfolds_from_an_import(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s.db") as store:
        view = fold(3, store)
        export_store(store, tmp_path / "all.jsonl.gz")
    again = MemoryStore()
    import_store(again, tmp_path / "all.jsonl.gz")
    assert unfold(3, view, again) == talk(3)


def test_an_export_is_for_its_owner_alone(tmp_path: Path) -> None:
    export_store(MemoryStore(), tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl").stat().st_mode & 0o077 == 0


def exported(path: Path) -> list[bytes]:
    store = MemoryStore()
    store.put({"a": 1, "b": 2})
    export_store(store, path)
    return path.read_bytes().splitlines(keepends=True)


def test_what_is_no_whole_export_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    head, first, second, end = exported(path)
    cases = {
        b"": "line 1: not JSON",
        b"[]\n": "is not an export",
        b"hello": "line 1: not JSON",
        head + first: "is cut off after 1 originals",
        head + first + end: "has 1 originals, not 2",
        head + first[:-3]: "line 2: not JSON",
        head + b"{}\n" + end: "line 2: not an original",
    }
    for data, words in cases.items():
        path.write_bytes(data)
        with pytest.raises(StoreError, match=words):
            import_store(MemoryStore(), path)
    path.write_bytes(head + first + second + end)
    assert import_store(MemoryStore(), path) == 2


def test_a_packed_export_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl.gz"
    exported(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StoreError, match=r"all\.jsonl\.gz'"):
        import_store(MemoryStore(), path)
    path.write_bytes(gzip.compress(b"") + b"rubbish")
    with pytest.raises(StoreError, match=r"all\.jsonl\.gz'"):
        import_store(MemoryStore(), path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot write '.*nowhere/all\.jsonl'"):
        export_store(MemoryStore(), tmp_path / "nowhere" / "all.jsonl")
    with pytest.raises(StoreError, match=r"cannot read '.*absent\.jsonl'"):
        import_store(MemoryStore(), tmp_path / "absent.jsonl")


def test_the_modules_of_before_lead_to_the_same_functions() -> None:
    from refold.stores import removal, transfer, upkeep

    for module in (removal, transfer):
        assert all(getattr(module, name) is getattr(upkeep, name) for name in module.__all__)
