"""What earlier versions have written can be read, and what is written now can be read by them."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from refold.stores import MemoryStore, SqliteStore
from refold.stores.scope import ScopedStore

BEFORE = Path(__file__).parent / "before"
SHORT: dict[str, Any] = {
    "plain": [1, "two", None],
    "ab" * 20: {"role": "user", "content": "\ud800 hi"},
}
"""Too short to be packed, so that the bytes depend on no library."""
LONG = {"cd" * 20: {"role": "tool", "content": "line of a log, and another one\n" * 40}}


def fill(store: Any, entries: dict[str, Any]) -> None:
    """Put *entries* without a scope, into one, and into one within another."""
    ann = ScopedStore(store, "ann")
    for place in (store, ann, ScopedStore(ann, "bob", ttl_seconds=80, clock=lambda: 1_000.0)):
        place.put(entries)


def check(store: Any, entries: dict[str, Any]) -> None:
    ann = ScopedStore(store, "ann")
    for place in (store, ann, ScopedStore(ann, "bob", ttl_seconds=80, clock=lambda: 1_000.0)):
        assert place.get(entries) == entries


def rows(path: Path, table: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as file:
        return file.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()


@pytest.mark.parametrize("how", ["zlib", "zstd"])
def test_a_file(tmp_path: Path, how: Any) -> None:
    if how == "zstd":
        pytest.importorskip("zstandard", reason="zstandard is not installed")
    path, now = tmp_path / "before.db", tmp_path / "now.db"
    shutil.copy(BEFORE / f"{how}.db", path)
    with SqliteStore(path, clock=lambda: 1_000.0) as store:
        check(store, SHORT | LONG)
        assert len(store) == 3 * len(SHORT | LONG)
    with SqliteStore(now, compression=how, clock=lambda: 1_000.0) as store:
        fill(store, SHORT | LONG)
    schema = [row[:3] + row[4:] for row in rows(now, "sqlite_master")]
    assert schema == [row[:3] + row[4:] for row in rows(path, "sqlite_master")]
    short = [row for row in rows(now, "original") if row[2][0] == 1]
    assert short == [row for row in rows(path, "original") if row[2][0] == 1]
    assert len(short) == 3 * len(SHORT)


def test_a_folder_of_objects(tmp_path: Path) -> None:
    pytest.importorskip("obstore", reason="obstore is not installed; see `make test-stores`")
    from refold.stores.objects import ObjectStore

    before, now = tmp_path / "before", tmp_path / "now"
    shutil.copytree(BEFORE / "objects", before)
    with ObjectStore(f"file://{before}") as store:
        check(store, SHORT | LONG)
        assert store.get(["removed"]) == {}
        store.put({"removed": "again"})
        assert store.get(["removed"]) == {"removed": "again"}
    with ObjectStore(f"file://{now}", clock=lambda: 1_000.0) as store:
        store.put({"removed": 1})
        store.remove("removed")
        fill(store, SHORT)
        fill(store, LONG)
    for file in (BEFORE / "objects").rglob("*"):
        same = now / file.relative_to(BEFORE / "objects")
        assert same.exists()
        if file.is_file() and b"\xcd\xcd" not in file.read_bytes():  # LONG is packed
            assert same.read_bytes() == file.read_bytes()


def test_what_was_encrypted_and_exported(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    from refold.stores.encrypted import EncryptedStore
    from refold.stores.upkeep import import_store

    store = MemoryStore()
    import_store(store, BEFORE / "sealed.jsonl")
    check(EncryptedStore(store, bytes(range(32))), SHORT | LONG)


def write() -> None:
    """Write what the tests read; run once, by the version whose files are to be kept readable."""
    from refold.stores.encrypted import EncryptedStore
    from refold.stores.objects import ObjectStore
    from refold.stores.upkeep import export_store

    for how in ("zlib", "zstd"):
        with SqliteStore(BEFORE / f"{how}.db", compression=how, clock=lambda: 1_000.0) as file:
            fill(file, SHORT | LONG)
    with ObjectStore(f"file://{BEFORE.absolute()}/objects", clock=lambda: 1_000.0) as objects:
        objects.put({"removed": 1})
        objects.remove("removed")
        fill(objects, SHORT)
        fill(objects, LONG)
    sealed = MemoryStore()
    fill(EncryptedStore(sealed, bytes(range(32))), SHORT | LONG)
    export_store(sealed, BEFORE / "sealed.jsonl")


if __name__ == "__main__":
    BEFORE.mkdir()
    write()
