"""One record: JSON text in, shorter JSON text out, and the very same text back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refold import ConfigError, FormatError, MemoryStore, MessageError, ScopedStore, SqliteStore
from refold.batch import RecordError, fold_record, unfold_record
from refold.batch.work import BufferedStore, open_originals
from refold.errors import NestingError
from tests.batch.chats import chat
from tests.conversations import Conversation, conversations

STYLES: tuple[dict[str, Any], ...] = (
    {},
    {"ensure_ascii": False},
    {"separators": (",", ":")},
    {"indent": 2},
    {"indent": "\t", "ensure_ascii": False},
)
ODD = (
    '[{"role":"user","content":"caf\\u00e9 \\/ é"},{"role":"user", "content":"b","x":1.0e0}]',
    '{"messages": [{"role": "user", "content": "a", "content": "b"}], "n": 1E5}',
    '{"messages": [], "messages": [{"role":"user","content":"\\ud800"}]}',
    "[]",
)


def _is_writable(text: str) -> bool:
    """Tell whether a file can hold *text*: half a surrogate pair has no UTF-8, unless escaped."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


@given(
    conversations(),
    st.sampled_from(STYLES),
    st.sampled_from(("", " ", "\r", "\ufeff")),
    st.sampled_from((None, 60, 400)),
    st.booleans(),
)
def test_the_very_text_comes_back(
    messages: Conversation, style: dict[str, Any], around: str, budget: int | None, is_object: bool
) -> None:
    value: Any = {"id": "é", "messages": messages, "n": 1.5} if is_object else messages
    text = around + json.dumps(value, **style) + around
    assume(_is_writable(text))
    record = fold_record(text, token_budget=budget)
    assert unfold_record(record["folded"], record["originals"]) == text
    assert record["tokens_after"] <= record["tokens_before"]
    assert "\n" not in record["folded"]


@pytest.mark.parametrize("text", ODD)
def test_text_that_no_style_spells_comes_back(text: str) -> None:
    record = fold_record(text)
    assert unfold_record(record["folded"], record["originals"]) == text
    store = MemoryStore()
    record = fold_record(text, store=store)
    assert "é" not in record["originals"]
    assert unfold_record(record["folded"], record["originals"], store=store) == text


def test_the_record_around_the_messages_stays() -> None:
    text = json.dumps({"id": 7, "messages": chat(7), "label": {"good": True}})
    folded = json.loads(fold_record(text)["folded"])
    assert list(folded) == ["id", "messages", "label"]
    assert folded["label"] == {"good": True}
    assert len(json.dumps(folded["messages"])) < len(json.dumps(chat(7)))


def test_the_key_can_be_named() -> None:
    text = json.dumps({"messages": ["no"], "chat": chat(3)})
    record = fold_record(text, key="chat")
    assert unfold_record(record["folded"], record["originals"]) == text
    with pytest.raises(MessageError, match="under talk"):
        fold_record(text, key="talk")


def test_originals_can_go_to_a_store(tmp_path: Path) -> None:
    texts = [json.dumps(chat(number)) for number in range(3)]
    with SqliteStore(tmp_path / "o.db") as store:
        records = [fold_record(text, store=store, token_budget=300) for text in texts]
        for text, record in zip(texts, records, strict=True):
            assert "shelf" not in record["originals"]
            assert unfold_record(record["folded"], record["originals"], store=store) == text
        with pytest.raises(RecordError, match="in a store"):
            unfold_record(records[0]["folded"], records[0]["originals"])
    with pytest.raises(RecordError):
        unfold_record(records[0]["folded"], records[0]["originals"], store=MemoryStore())


def test_what_was_changed_is_not_passed_off_as_the_text() -> None:
    record = fold_record(json.dumps({"messages": chat(1), "label": "good"}))
    with pytest.raises(RecordError, match="it was changed"):
        unfold_record(record["folded"].replace('"good"', '"bad"'), record["originals"])
    with pytest.raises(FormatError, match="not written by fold_record"):
        unfold_record(record["folded"], "{}")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", FormatError),
        ("{", FormatError),
        ("[" * 100_000, FormatError),
        ('"a"', MessageError),
        ('{"text": "a"}', MessageError),
        ('{"messages": "a"}', MessageError),
        ("[1]", MessageError),
        ('["\ud800"]', FormatError),
        (None, FormatError),
    ],
)
def test_what_is_no_conversation_is_refused(text: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        fold_record(text)


def test_choices_are_checked() -> None:
    with pytest.raises(ConfigError, match="token_budget"):
        fold_record("[]", tokenbudget=3)
    with pytest.raises(ConfigError, match="ScopedStore"):
        fold_record("[]", conversation="ann")


def test_a_part_of_a_store_is_one_of_its_own() -> None:
    store = MemoryStore()
    text = json.dumps(chat(2))
    record = fold_record(text, store=ScopedStore(store, "ann"))
    scoped = ScopedStore(store, "ann")
    assert unfold_record(record["folded"], record["originals"], store=scoped) == text
    with pytest.raises(RecordError):
        unfold_record(record["folded"], record["originals"], store=ScopedStore(store, "bob"))


class TestBufferedStore:
    def test_what_waits_is_found_and_what_is_flushed_is_kept(self) -> None:
        inner = MemoryStore()
        store = BufferedStore(inner)
        store.put({"a": 1})
        store.put({"a": 2, "b": ["x" * 10]})
        assert store.get(["b", "a", "c"]) == {"b": ["x" * 10], "a": 1}
        assert len(inner) == 0
        store.flush()
        assert inner.get(["a", "b"]) == {"a": 1, "b": ["x" * 10]}

    def test_no_more_waits_than_memory_has_room_for(self) -> None:
        inner = MemoryStore()
        store = BufferedStore(inner)
        for number in range(10):
            store.put({str(number): "x" * 1_000_000})
        assert len(inner) >= 5

    def test_what_a_store_cannot_keep_is_refused_at_once(self) -> None:
        deep: Any = "x"
        for _ in range(600):
            deep = [deep]
        store = BufferedStore(MemoryStore())
        with pytest.raises(NestingError):
            store.put({"deep": deep})
        assert store.get(["deep"]) == {}

    def test_nothing_is_kept_of_what_failed(self, tmp_path: Path) -> None:
        def fail() -> None:
            with open_originals(str(tmp_path / "o.db")) as store:
                assert store is not None
                store.put({"a": 1})
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        with SqliteStore(tmp_path / "o.db") as store:
            assert len(store) == 0
