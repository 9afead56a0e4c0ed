"""`Cached`: each question is asked once, whoever asks, and no finished answer is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from refold.errors import ConfigError, StoreError
from refold.llm.summarizers.base import Summarizer, Summary, Usage
from refold.llm.summarizers.cached import (
    Cache,
    Cached,
    MemoryCache,
    SqliteCache,
    cache_key,
)
from tests.llm.summarizers.contract import (
    PAID,
    Scripted,
    SummarizerContract,
    ask,
    run,
    run_in_threads,
    run_script,
)


class TestCached(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Cached(inner)


class TestCachedInSqlite(SummarizerContract):
    @pytest.fixture(autouse=True)
    def cache(self, tmp_path: Path) -> Iterator[None]:
        with SqliteCache(tmp_path / "c.db") as self._cache:
            yield

    def wrap(self, inner: Summarizer) -> Summarizer:
        return Cached(inner, self._cache)


@pytest.fixture(params=["memory", "sqlite"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cache]:
    if request.param == "memory":
        yield MemoryCache()
    else:
        with SqliteCache(tmp_path / "c.db") as cache:
            yield cache


def test_asks_once_and_a_kept_answer_is_free(cache: Cache) -> None:
    inner = Scripted("short")
    cached = Cached(inner, cache)
    assert run(cached.summarize(ask())) == Summary(text="short", usage=PAID)
    assert run(cached.summarize(ask())) == Summary(text="short", usage=Usage(calls=0))
    assert len(inner.requests) == 1


def test_anything_else_is_another_question(cache: Cache) -> None:
    inner = Scripted("short")
    requests = [
        ask("a"),
        ask("b"),
        ask("a", max_tokens=9),
        ask("a", must_keep=("b",)),
        ask("a", must_keep=("b", "c")),
        ask("a", must_keep=("b, c",)),
        ask("\ud83d\ude00"),
        ask("😀"),
    ]
    for version in ("", "gpt-1"):
        for request in requests:
            run(Cached(inner, cache, version=version).summarize(request))
    assert len(inner.requests) == 2 * len(requests)


def test_the_key_is_the_same_in_every_process() -> None:
    key = cache_key(ask("text", max_tokens=3, must_keep=("é",)), version="v")
    assert key == run_script(
        "from refold.llm.summarizers.cached import cache_key\n"
        "from refold.llm.summarizers.base import SummaryRequest\n"
        "r = SummaryRequest(text='text', max_tokens=3, must_keep=('\\xe9',))\n"
        "print(cache_key(r, version='v'))"
    )


@pytest.mark.parametrize("blank", ["", " \n"])
def test_an_empty_answer_is_not_kept(blank: str) -> None:
    cached = Cached(Scripted(blank, "short"))
    assert run(cached.summarize(ask())).text == blank
    assert run(cached.summarize(ask())).text == "short"


def test_a_broken_cache_costs_a_call_not_the_answer() -> None:
    class Broken:
        def get(self, key: str) -> str | None:
            raise StoreError("cannot read")

        def put(self, key: str, text: str) -> None:
            raise StoreError("cannot write")

    cached = Cached(Scripted("short"), Broken())
    assert run(cached.summarize(ask())) == Summary(text="short", usage=PAID)
    assert str(cached.last_error) == "cannot write"


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
from refold.llm.summarizers.cached import SqliteCache
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
