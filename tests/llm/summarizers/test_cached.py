"""`Cached`: each question is asked once, whoever asks, and no finished answer is lost."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from refold.errors import ConfigError, StoreError
from refold.llm.summarizers.base import Summarizer, Summary, SummaryRequest, Usage
from refold.llm.summarizers.cached import (
    Cache,
    CacheCounts,
    Cached,
    MemoryCache,
    SqliteCache,
    cache_key,
)
from tests.llm.summarizers.contract import (
    PAID,
    TEXT,
    ForeignError,
    Gate,
    Scripted,
    SummarizerContract,
    ask,
    cancelled,
    caught,
    run,
    run_in_threads,
    run_script,
    until,
)
from tests.patience import FOR_EVER


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
    assert cached.counts == CacheCounts(hits=1, calls=1)


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


def test_equal_requests_at_once_are_sent_once() -> None:
    gate = Gate()
    cached = Cached(gate)

    async def main() -> list[Summary]:
        tasks = [asyncio.create_task(cached.summarize(ask())) for _ in range(100)]
        await until(lambda: cached.counts.shared == 99)
        gate.open()
        return await asyncio.gather(*tasks)

    answers = run(main())
    assert gate.asked == 1
    assert {answer.text for answer in answers} == {TEXT[:10]}
    assert sum((answer.usage for answer in answers), Usage()) == PAID  # paid once


def test_equal_requests_in_many_threads_are_sent_once() -> None:
    gate = Gate()
    cached = Cached(gate)

    def work(number: int) -> Summary:
        async def main() -> Summary:
            task = asyncio.create_task(cached.summarize(ask()))
            await until(lambda: cached.counts.shared == 7)
            gate.open()
            return await task

        return run(main())

    answers = run_in_threads(8, work)
    assert gate.asked == 1
    assert sum((answer.usage for answer in answers), Usage()) == PAID


def test_an_error_reaches_all_who_wait_and_is_not_kept(cache: Cache) -> None:
    error = ForeignError()
    inner = Scripted(error, "short")
    cached = Cached(inner, cache)

    async def main() -> list[Summary | Exception]:
        return await asyncio.gather(*(caught(cached.summarize(ask())) for _ in range(5)))

    assert run(main()) == [error] * 5
    assert run(cached.summarize(ask())).text == "short"
    assert len(inner.requests) == 2


@pytest.mark.parametrize("blank", ["", " \n"])
def test_an_empty_answer_is_not_kept(blank: str) -> None:
    cached = Cached(Scripted(blank, "short"))
    assert run(cached.summarize(ask())).text == blank
    assert run(cached.summarize(ask())).text == "short"


def test_the_call_goes_on_while_anybody_waits() -> None:
    gate = Gate()
    cached = Cached(gate)

    async def main() -> None:
        first, second = (asyncio.create_task(cached.summarize(ask())) for _ in range(2))
        await until(lambda: cached.counts.shared == 1)
        assert await cancelled(first)
        assert (gate.waiting, gate.cancelled) == (1, 0)
        gate.open()
        assert await second == Summary(text=TEXT[:10], usage=PAID)

    run(main())
    assert gate.asked == 1


def test_the_call_is_cancelled_when_nobody_waits() -> None:
    gate = Gate()
    cached = Cached(gate)

    async def main() -> None:
        tasks = [asyncio.create_task(cached.summarize(ask())) for _ in range(3)]
        await until(lambda: cached.counts.shared == 2 and gate.waiting == 1)
        for task in tasks:
            assert await cancelled(task)
        assert (gate.waiting, gate.cancelled) == (0, 1)
        gate.open()
        await cached.summarize(ask())

    run(main())
    assert gate.asked == 2


def test_if_the_loop_that_asked_ends_another_one_asks_again() -> None:
    gate = Gate()
    cached = Cached(gate)
    answers: list[Summary] = []
    joined = threading.Thread(target=lambda: answers.append(run(cached.summarize(ask()))))

    async def main() -> None:
        asyncio.create_task(cached.summarize(ask()))  # noqa: RUF006 - left behind on purpose
        await until(lambda: gate.waiting == 1)
        joined.start()
        await until(lambda: cached.counts.shared == 1)

    asyncio.run(main())
    gate.open()
    joined.join(FOR_EVER)
    assert answers == [Summary(text=TEXT[:10], usage=PAID)]
    assert gate.asked == 2


def test_a_loop_closed_with_the_call_under_way_holds_nobody_up() -> None:
    gate = Gate()
    cached = Cached(gate)
    loop = asyncio.new_event_loop()
    task = loop.create_task(cached.summarize(ask()))
    loop.run_until_complete(until(lambda: gate.waiting == 1))
    left = asyncio.all_tasks(loop)
    loop.close()
    gate.open()
    assert run(cached.summarize(ask())).text == TEXT[:10]
    for each in {task, *left}:
        each._log_destroy_pending = False  # type: ignore[attr-defined]


def test_the_inner_ones_own_cancellation_is_passed_on() -> None:
    with pytest.raises(asyncio.CancelledError):
        run(Cached(Scripted(asyncio.CancelledError())).summarize(ask()))


def test_cancelling_after_four_of_five_keeps_four(cache: Cache) -> None:
    class FourThenWait:
        def __init__(self) -> None:
            self.asked = 0

        async def summarize(self, request: SummaryRequest) -> Summary:
            self.asked += 1
            if request.text == "text 4":
                await asyncio.Event().wait()
            return Summary(text=f"short {request.text}", usage=PAID)

    requests = [ask(f"text {i}") for i in range(5)]
    inner = FourThenWait()
    cached = Cached(inner, cache)

    async def main() -> None:
        tasks = [asyncio.create_task(cached.summarize(r)) for r in requests]
        work = asyncio.gather(*tasks)
        await until(lambda: sum(task.done() for task in tasks) == 4)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    run(main())
    kept = [cache.get(cache_key(request)) for request in requests]
    assert kept == [*(f"short text {i}" for i in range(4)), None]
    again = Scripted("new")
    answers = [run(Cached(again, cache).summarize(request)).text for request in requests]
    assert answers == [*(f"short text {i}" for i in range(4)), "new"]
    assert len(again.requests) == 1


def test_a_broken_cache_costs_a_call_not_the_answer() -> None:
    class Broken:
        def get(self, key: str) -> str | None:
            raise StoreError("cannot read")

        def put(self, key: str, text: str) -> None:
            raise StoreError("cannot write")

    cached = Cached(Scripted("short"), Broken())
    assert run(cached.summarize(ask())) == Summary(text="short", usage=PAID)
    assert cached.counts == CacheCounts(calls=1, errors=3)
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
