"""What holds a conversation, or folds one, can be copied and sent to another process."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refold import (
    CompressionManager,
    ContextWindowManager,
    MemoryStore,
    SqliteStore,
    Store,
    uncompress,
)
from tests.classic import Compressor, Session, compress
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


@COPIES
@pytest.mark.parametrize("choices", [{}, {"summarizer": shorten}, {"counter": words}])
def test_a_compressor(copied: Copied, choices: dict[str, Any]) -> None:
    compressor = Compressor(token_budget=400, store=MemoryStore(), **choices)
    other: Compressor = copied(compressor)
    assert other.options == compressor.options
    result = other.compress(TALK[:6])
    assert result.messages == compressor.compress(TALK[:6]).messages != TALK[:6]
    assert (result.model is None) == ("summarizer" not in choices)


@COPIES
@pytest.mark.parametrize("profile", ["classic", "standard", "lossless"])
@pytest.mark.parametrize("budget", [None, 500])
def test_a_session_goes_on_like_its_copy(copied: Copied, profile: Any, budget: Any) -> None:
    session = Session(profile=profile, token_budget=budget, counter=words, store=MemoryStore())
    session.extend(TALK[:8])
    session.view()
    other: Session = copied(session)
    assert other.verbatim == session.verbatim
    for one in (session, other):
        one.extend(TALK[8:])
    assert other.view() == session.view()
    assert other.report == session.report
    assert other.messages == TALK
    assert uncompress(other.view(), other.verbatim).messages == TALK
    other.append(TALK[0])
    assert len(session.messages) == len(TALK)


@COPIES
def test_a_session_keeps_its_models(copied: Copied) -> None:
    session = Session(token_budget=300, summarizer=shorten)
    session.extend(TALK[:6])
    session.view()
    other: Session = copied(session)
    for one in (session, other):
        one.extend(TALK[6:])
    assert other.view() == session.view()
    assert other.report.model is not None


def test_nothing_is_written_to_the_store_of_a_session_that_is_copied() -> None:
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
    other = copy.copy(session)
    assert Counting.puts == before
    other.extend(TALK)
    other.view()
    assert Counting.puts > before


def tool_talk() -> list[dict[str, Any]]:
    function = {"name": "read", "arguments": "{}"}
    calls = [{"id": "c1", "type": "function", "function": function}]
    return [
        {"role": "user", "content": "What does the log say?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": f"{LONG} {LONG}"},
        {"role": "assistant", "content": "That the ferry is late."},
    ]


@COPIES
@pytest.mark.parametrize("choices", [{}, {"summarizer": shorten}, {"store": MemoryStore()}])
def test_a_compression_manager_knows_its_short_forms(
    copied: Copied, choices: dict[str, Any]
) -> None:
    manager = CompressionManager(compress_tool_results_limit=1, **choices)
    messages = tool_talk()
    assert manager.compress(messages, in_place=False).items
    other: CompressionManager = copied(manager)
    assert other.view(messages) == manager.view(messages) != messages
    assert other.stats == manager.stats
    assert other.compress(tool_talk()).items


@COPIES
@pytest.mark.parametrize("choices", [{}, {"llm": shorten}, {"counter": words}])
def test_a_window_manager(copied: Copied, choices: dict[str, Any]) -> None:
    manager = ContextWindowManager(context_limit=900, reserve_output_tokens=100, **choices)
    manager.observe(TALK[:2], 500)
    other: ContextWindowManager = copied(manager)
    assert other.fit(TALK).messages == manager.fit(TALK).messages
    assert other.fit(TALK).tokens_after == manager.fit(TALK).tokens_after


@COPIES
def test_a_window_manager_that_has_learned_of_a_smaller_window(copied: Copied) -> None:
    manager = ContextWindowManager(context_limit=4_000, reserve_output_tokens=100)
    said = "This model's maximum context length is 900 tokens. However, your messages resulted in "
    manager.recover(TALK, f"{said}1000 tokens.")
    assert copied(manager).get_context_limit() == manager.get_context_limit() == 900
