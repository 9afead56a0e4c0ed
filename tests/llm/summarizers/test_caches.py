"""Where answers are kept: bounded in memory, and in a file that several processes share."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from refold.errors import ConfigError, StoreError
from refold.llm.summarizers.caches import MemoryCache, SqliteCache
from tests.llm.summarizers.contract import run_in_threads, run_script


def test_memory_keeps_what_was_used_last() -> None:
    cache = MemoryCache(max_entries=2)
    cache.put("a", "1")
    cache.put("b", "2")
    assert cache.get("a") == "1"
    cache.put("c", "3")
    assert [cache.get(key) for key in "abc"] == ["1", None, "3"]
    with pytest.raises(ConfigError, match="max_entries must be a whole number, 1 or more; got 0"):
        MemoryCache(max_entries=0)


PUT = """
import sys
from refold.llm.summarizers.caches import SqliteCache
with SqliteCache(sys.argv[1]) as cache:
    for i in range(30):
        cache.put(f"{sys.argv[2]} {i}", sys.argv[2] * 9)
        cache.put(f"shared {i}", sys.argv[2])
    cache.put("odd", "\\ud800 \\0")
"""


def test_sqlite_outlives_the_process(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    run_script(PUT, str(path), "a")
    with SqliteCache(path) as cache:
        assert cache.get("a 7") == "a" * 9
        assert cache.get("odd") == "\ud800 \0"
        assert cache.get("unknown") is None


def test_sqlite_serves_several_processes_at_once(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    run_in_threads(3, lambda number: run_script(PUT, str(path), "abc"[number]))
    with SqliteCache(path) as cache:
        assert all(cache.get(f"{name} {i}") == name * 9 for name in "abc" for i in range(30))
        assert {cache.get(f"shared {i}") for i in range(30)} <= {"a", "b", "c"}


def test_sqlite_a_known_key_keeps_its_answer(tmp_path: Path) -> None:
    with SqliteCache(tmp_path / "c.db") as cache:
        cache.put("a", "first")
        cache.put("a", "second")
        assert cache.get("a") == "first"


def test_sqlite_says_what_is_wrong_with_the_file(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("this is no database " * 100)
    foreign = tmp_path / "foreign.db"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    for path in (text, foreign, tmp_path, tmp_path / "no" / "c.db", tmp_path / "a\0b"):
        with pytest.raises(StoreError, match="cannot open the cache"):
            SqliteCache(path)
    connection = sqlite3.connect(foreign)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]
    connection.close()


def test_sqlite_after_closing(tmp_path: Path) -> None:
    cache = SqliteCache(tmp_path / "c.db")
    cache.close()
    cache.close()
    with pytest.raises(StoreError, match="cannot read the cache"):
        cache.get("a")
    with pytest.raises(StoreError, match="cannot write to the cache"):
        cache.put("a", "b")
