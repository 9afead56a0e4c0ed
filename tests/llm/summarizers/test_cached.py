"""`Cached`: each question is asked once, whoever asks, and no finished answer is lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from refold import MemoryStore, SqliteStore
from refold.errors import StoreError
from refold.llm.summarizers.base import Summarizer, Summary, Usage
from refold.llm.summarizers.stack import Cache, Cached, Memory, cache_key
from tests.llm.summarizers.contract import (
    PAID,
    Scripted,
    SummarizerContract,
    ask,
    run,
    run_script,
)


class TestCached(SummarizerContract):
    def wrap(self, inner: Summarizer) -> Summarizer:
        return Cached(inner)


class TestCachedInSqlite(SummarizerContract):
    @pytest.fixture(autouse=True)
    def cache(self, tmp_path: Path) -> Iterator[None]:
        with SqliteStore(tmp_path / "c.db") as self._cache:
            yield

    def wrap(self, inner: Summarizer) -> Summarizer:
        return Cached(inner, self._cache)


@pytest.fixture(params=["latest", "memory", "sqlite"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Cache]:
    if request.param == "latest":
        yield Memory()
    elif request.param == "memory":
        yield MemoryStore()
    else:
        with SqliteStore(tmp_path / "c.db") as cache:
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
        "from refold.llm.summarizers.stack import cache_key\n"
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
        def get(self, keys: Iterable[str]) -> dict[str, Any]:
            raise StoreError("cannot read")

        def put(self, entries: Mapping[str, Any]) -> None:
            raise StoreError("cannot write")

    cached = Cached(Scripted("short"), Broken())
    assert run(cached.summarize(ask())) == Summary(text="short", usage=PAID)
    assert str(cached.last_error) == "cannot write"


def test_memory_keeps_the_latest() -> None:
    cache = Memory()
    cache.put({str(number): "text" for number in range(10_001)})
    assert cache.get(["0", "1", "10000"]) == {"1": "text", "10000": "text"}


def test_what_somebody_else_put_there_is_no_answer() -> None:
    store = MemoryStore()
    store.put({cache_key(ask()): {"text": "theirs"}})
    assert run(Cached(Scripted("short"), store).summarize(ask())).text == "short"


def test_a_store_outlives_the_process(tmp_path: Path) -> None:
    for number in (1, 0):
        with SqliteStore(tmp_path / "c.db") as store:
            inner = Scripted("short")
            assert run(Cached(inner, store).summarize(ask())).text == "short"
            assert len(inner.requests) == number
