"""Who may read what is written: stores, what SQLite puts beside them, caches."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from refold import SqliteStore

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@pytest.fixture(autouse=True)
def open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_store_and_all_beside_it_are_its_owners(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "s.db") as store:
        store.put({"a": {"role": "user", "content": "secret"}})
        found = modes(tmp_path)
        assert {"s.db", "s.db-wal", "s.db-shm"} <= found.keys()
        assert set(found.values()) == {0o600}


def test_an_empty_file_becomes_private_before_anything_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.touch(0o666)
    SqliteStore(path).close()
    assert modes(tmp_path) == {"s.db": 0o600}


def test_a_store_that_somebody_shares_stays_shared(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    SqliteStore(path).close()
    path.chmod(0o660)
    with SqliteStore(path) as store:
        store.put({"a": 1})
        assert set(modes(tmp_path).values()) == {0o660}
