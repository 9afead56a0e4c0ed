"""Stores can be copied and sent to another process, and sessions forked."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refold import (
    MemoryStore,
    SqliteStore,
    Store,
    uncompress,
)
from tests.classic import Session, compress
from tests.conversations import SENTENCES

LONG = " ".join(SENTENCES)
TALK = [
    {"role": ("user", "assistant")[n % 2], "content": f"{n}. {SENTENCES[n % 5]} {LONG}"}
    for n in range(12)
]


def by_pickle(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def words(text: str) -> int:
    return len(text.split())


def shorten(text: str) -> str:
    return text[: len(text) // 3]


COPIES = pytest.mark.parametrize("copied", [by_pickle, copy.deepcopy, copy.copy])
Copied = Callable[[Any], Any]


@COPIES
def test_a_store_in_memory(copied: Copied) -> None:
    store = MemoryStore()
    folded = compress(TALK, store=store).messages
    other: MemoryStore = copied(store)
    other.put({"more": 1})
    assert uncompress(folded, other).messages == TALK
    assert len(other) == len(store) + 1
    store.put({"less": 2})
    assert not other.get(["less"])
    assert copied(MemoryStore()).get(["x"]) == {}


def test_a_store_with_deep_values_is_copied() -> None:
    deep: list[Any] = []
    for _ in range(20_000):
        deep = [deep]
    store = MemoryStore()
    store.put({"deep": deep})
    other = copy.deepcopy(store)
    assert len(other) == 1


@COPIES
def test_a_store_in_a_file_is_opened_again(copied: Copied, tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "a.db") as store, copied(store) as other:
        store.put({"a": 1})
        assert other.get(["a"]) == {"a": 1}
    with SqliteStore(tmp_path / "a.db", read_only=True) as store, copied(store) as other:
        assert other.get(["a"]) == {"a": 1}


@pytest.mark.parametrize("profile", ["classic", "standard", "lossless"])
@pytest.mark.parametrize("budget", [None, 500])
def test_a_session_goes_on_like_its_fork(profile: Any, budget: Any) -> None:
    session = Session(profile=profile, token_budget=budget, counter=words, store=MemoryStore())
    session.extend(TALK[:8])
    session.view()
    other = session.fork()
    assert other.verbatim == session.verbatim
    for one in (session, other):
        one.extend(TALK[8:])
    assert other.view() == session.view()
    assert other.report == session.report
    assert other.messages == TALK
    assert uncompress(other.view(), other.verbatim).messages == TALK
    other.append(TALK[0])
    assert len(session.messages) == len(TALK)


def test_a_fork_keeps_the_models_of_a_session() -> None:
    session = Session(token_budget=300, summarizer=shorten)
    session.extend(TALK[:6])
    session.view()
    other = session.fork()
    for one in (session, other):
        one.extend(TALK[6:])
    assert other.view() == session.view()
    assert other.report.model is not None


def test_nothing_is_written_to_the_store_of_a_session_that_is_forked() -> None:
    class Counting(MemoryStore):
        """Counts what is put."""

        puts = 0

        def put(self, entries: Any) -> None:
            Counting.puts += 1
            super().put(entries)

    store: Store = Counting()
    session = Session(token_budget=300, store=store)
    session.extend(TALK)
    session.view()
    before = Counting.puts
    other = session.fork()
    assert Counting.puts == before
    other.extend(TALK)
    other.view()
    assert Counting.puts > before
