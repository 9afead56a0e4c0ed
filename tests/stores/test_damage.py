"""Damaged stores: whatever is in the file, a call gives the truth or a `StoreError`."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.errors import StoreError
from refold.stores import SqliteStore

ENTRIES = {f"m{number}": {"role": "user", "content": "hällo " * number} for number in range(120)}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "s.db"
    with SqliteStore(path) as store:
        store.put(ENTRIES)
    return path.read_bytes()


def every_call(path: Path) -> list[Callable[[], object]]:
    """Return calls that open the store at *path*, do one thing and close it."""

    def opened(do: Callable[[SqliteStore], object], **choices: Any) -> Callable[[], object]:
        def call() -> object:
            with SqliteStore(path, **choices) as store:
                return do(store)

        return call

    return [
        opened(lambda store: store.get(ENTRIES)),
        opened(lambda store: store.get(ENTRIES), read_only=True),
        opened(lambda store: list(store.entries())),
        opened(len),
        opened(lambda store: store.put({"new": "entry"})),
        opened(lambda store: store.put({"newer": "entry"}), ttl_seconds=1e12),
        opened(lambda store: store.remove("m1")),
        opened(lambda store: store.shrink()),
        opened(lambda store: store.remove()),
    ]


def check(call: Callable[[], object]) -> None:
    try:
        found = call()
    except StoreError:
        return
    if isinstance(found, dict):
        assert found.items() <= ENTRIES.items()


@given(
    st.lists(st.tuples(st.integers(0, 200_000), st.binary(min_size=1, max_size=40)), max_size=8),
    st.integers(0, 4_096),
    st.binary(max_size=3),
)
def test_damage_anywhere_is_a_store_error(
    tmp_path_factory: pytest.TempPathFactory,
    sound: bytes,
    damage: list[tuple[int, bytes]],
    at: int,
    head: bytes,
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "s.db"
    data = bytearray(sound)
    for place, wrong in (*damage, (at, head)):  # the schema is in the first page
        start = place % len(sound)
        data[start : start + len(wrong)] = wrong
    path.write_bytes(data)
    for call in every_call(path):
        check(call)


@pytest.mark.parametrize("column", ["key", "written_at", "value"])
@pytest.mark.parametrize("value", [None, "text", 5, 1.5, b"", b"\x01", b"\x02abc", b"\xffa"])
def test_a_record_of_another_type_is_a_store_error(
    tmp_path: Path, sound: bytes, column: str, value: object
) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(sound)
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA writable_schema = ON")
        file.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '')")
        file.commit()
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"UPDATE original SET {column} = ? WHERE key = CAST('m7' AS BLOB)", [value])
        file.commit()
    for call in every_call(path):
        check(call)


def test_a_schema_that_is_not_utf8_says_that_the_file_is_damaged(
    tmp_path: Path, sound: bytes
) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(sound.replace(b"CREATE TABLE original", b"CREATE TABLE \xfcriginal"))
    with pytest.raises(StoreError, match=r"cannot open .*the file is damaged; restore a backup"):
        SqliteStore(path)
