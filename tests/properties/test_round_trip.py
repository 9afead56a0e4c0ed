"""`uncompress` undoes `compress`: any shape, any options, any number of rounds, any store."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from refold import MemoryStore, SqliteStore, Store, uncompress
from tests.classic import compress
from tests.conversations import (
    SENTENCES,
    Conversation,
    conversations,
    options,
    spelled,
)

quick = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
LONG = " ".join(SENTENCES[n] for n in (0, 1, 5, 7))
FILLER = " ".join([SENTENCES[7]] * 4)


def assert_same(restored: list[dict[str, Any]], original: Conversation) -> None:
    assert restored == original
    assert spelled(restored) == spelled(original)


def split(messages: Conversation, cuts: list[int]) -> list[Conversation]:
    places = sorted(cut % (len(messages) + 1) for cut in cuts)
    starts, ends = [0, *places], [*places, len(messages)]
    return [messages[a:b] for a, b in zip(starts, ends, strict=True)]


@quick
@given(conversations(), options())
def test_uncompress_undoes_compress(messages: Conversation, chosen: dict[str, Any]) -> None:
    result = compress(messages, **chosen)
    restored = uncompress(result.messages, result.verbatim)
    assert_same(restored.messages, messages)
    assert restored.missing_ids == []


@quick
@given(conversations(), options())
def test_a_look_up_function_does_as_well_as_a_mapping(
    messages: Conversation, chosen: dict[str, Any]
) -> None:
    result = compress(messages, **chosen)
    assert_same(uncompress(result.messages, result.verbatim.get).messages, messages)


@quick
@given(
    conversations(),
    st.lists(options(), min_size=3, max_size=3),
    st.lists(st.integers(0, 9), min_size=2, max_size=2),
)
def test_three_rounds_with_merged_originals(
    messages: Conversation, chosen: list[dict[str, Any]], cuts: list[int]
) -> None:
    history: Conversation = []
    older: dict[str, Any] = {}
    newer: dict[str, Any] = {}
    for piece, choice in zip(split(messages, cuts), chosen, strict=True):
        result = compress([*history, *piece], **choice)
        history = result.messages
        older = {**result.verbatim, **older}
        newer = {**newer, **result.verbatim}
    for verbatim in (older, newer):
        restored = uncompress(history, verbatim)
        assert restored.missing_ids == []
        assert_same(restored.messages, messages)


@quick
@given(conversations(), st.lists(options(), min_size=3, max_size=3))
def test_the_same_conversation_folded_again_and_again(
    messages: Conversation, chosen: list[dict[str, Any]]
) -> None:
    verbatim: dict[str, Any] = {}
    history = messages
    for choice in chosen:
        result = compress(history, **choice)
        history, verbatim = result.messages, {**verbatim, **result.verbatim}
    assert_same(uncompress(history, verbatim).messages, messages)


@quick
@given(
    conversations(),
    st.lists(options(), min_size=3, max_size=3),
    st.lists(st.integers(0, 9), min_size=2, max_size=2),
)
def test_three_rounds_with_a_store(
    messages: Conversation, chosen: list[dict[str, Any]], cuts: list[int]
) -> None:
    store = MemoryStore()
    history: Conversation = []
    for piece, choice in zip(split(messages, cuts), chosen, strict=True):
        history = compress([*history, *piece], store=store, **choice).messages
    restored = uncompress(history, store)
    assert restored.missing_ids == []
    assert_same(restored.messages, messages)


@quick
@given(conversations(), conversations(), options())
def test_one_file_keeps_the_originals_of_many_conversations(
    tmp_path_factory: pytest.TempPathFactory,
    first: Conversation,
    second: Conversation,
    chosen: dict[str, Any],
) -> None:
    path = tmp_path_factory.mktemp("store") / "originals.db"
    with SqliteStore(path) as store:
        folded = [compress(messages, store=store, **chosen) for messages in (first, second)]
    with SqliteStore(path) as store:
        for messages, result in zip((first, second), folded, strict=True):
            assert_same(uncompress(result.messages, store).messages, messages)


@quick
@given(conversations(), options())
@example([{"role": "user", "content": LONG}] * 3, {"recency_window": 0})
def test_originals_are_in_the_store_before_the_result_is_returned(
    messages: Conversation, chosen: dict[str, Any]
) -> None:
    store = MemoryStore()
    result = compress(messages, store=store, **chosen)
    snapshot = copy.deepcopy(store._values)
    assert_same(uncompress(result.messages, store).messages, messages)
    assert store._values == snapshot


# What generated conversations hardly ever hit: texts made to be confused with each other.


@pytest.fixture(params=["verbatim", "memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store | None]:
    with SqliteStore(tmp_path / "s.db") as file:
        yield {"verbatim": None, "memory": MemoryStore(), "sqlite": file}[request.param]


def assert_round_trip(messages: Conversation, store: Store | None, **chosen: Any) -> None:
    result = compress(messages, store=store, **chosen)
    assert result.messages != messages, "the test is about folded messages"
    restored = uncompress(result.messages, store or result.verbatim)
    assert restored.missing_ids == []
    assert_same(restored.messages, messages)


def test_a_message_that_reads_like_a_stand_in_of_the_same_conversation(
    store: Store | None,
) -> None:
    said = {"role": "user", "content": LONG}
    quoted = compress([said], recency_window=0).messages[0]
    assert quoted != said
    between = {"role": "assistant", "content": "ok"}
    assert_round_trip([said, between, quoted], store, recency_window=1)


def test_a_quoted_stand_in_before_the_message_it_quotes(store: Store | None) -> None:
    said = {"role": "user", "content": FILLER}
    quoted = compress([said], recency_window=0).messages[0]
    between = {"role": "assistant", "content": "ok"}
    assert_round_trip([quoted, between, said], store, recency_window=0)


def test_a_later_round_that_makes_the_same_stand_in_for_something_else() -> None:
    first = {"role": "user", "content": FILLER}
    second = {"role": "user", "content": FILLER + " "}
    between = {"role": "assistant", "content": "ok"}
    one = compress([first], recency_window=0)
    two = compress([*one.messages, between, second], recency_window=0)
    for verbatim in ({**one.verbatim, **two.verbatim}, {**two.verbatim, **one.verbatim}):
        restored = uncompress(two.messages, verbatim)
        assert_same(restored.messages, [first, between, second])


def test_two_stand_ins_that_read_the_same(store: Store | None) -> None:
    messages = [
        {"role": "user", "content": FILLER},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": FILLER + " "},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "  " + FILLER},
    ]
    assert_round_trip(messages, store, recency_window=0)


def test_conversations_with_the_same_ids_share_a_store(store: Store | None) -> None:
    shared = MemoryStore() if store is None else store
    folded = []
    for text in (LONG, LONG.upper()):
        messages = [
            {"role": "user", "content": text},
            {"id": "a", "role": "user", "content": text},
        ]
        folded.append((messages, compress(messages, store=shared, recency_window=0)))
    for messages, result in folded:
        assert_same(uncompress(result.messages, shared).messages, messages)


def test_a_surrogate_pair_is_not_the_character_it_would_be(store: Store | None) -> None:
    messages = [
        {"role": "user", "content": LONG + " \U0001f600"},
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": LONG + " \ud83d\ude00"},
    ]
    assert_round_trip(messages, store, recency_window=0)


@pytest.mark.parametrize("levels", [200, 400, 600, 800, 1_000])
def test_a_deeply_nested_extra_is_found_again_from_deep_inside_a_program(levels: int) -> None:
    extra: list[Any] = []
    for _ in range(levels):
        extra = [extra]
    messages = [{"role": "user", "content": LONG, "extra": extra}]
    result = compress(messages, recency_window=0)

    def restore_at(depth: int) -> str:
        if depth:
            return restore_at(depth - 1)
        content: str = uncompress(result.messages, result.verbatim).messages[0]["content"]
        return content

    assert restore_at(0) == LONG
    assert restore_at(500) == LONG


def test_the_order_of_keys_comes_back() -> None:
    messages = [{"content": LONG, "zeta": 1, "role": "user", "alpha": {"b": 1, "a": 2}, "id": "x"}]
    assert_round_trip(messages, None, recency_window=0)


def test_objects_of_other_libraries_come_back() -> None:
    class Handle:
        """Equal to nothing but itself, like a file or a lock; its `repr` shows its address."""

        def __deepcopy__(self, memo: dict[int, Any]) -> Handle:
            return self

    handle = Handle()
    messages = [{"id": "a", "role": "user", "content": LONG, "handle": handle}]
    result = compress(messages, recency_window=0)
    assert uncompress(result.messages, result.verbatim).messages == messages


def test_an_object_whose_copy_prints_differently_comes_back() -> None:
    class Note:
        """Equal by content, but printed with its address, as most classes are."""

        def __init__(self, text: str) -> None:
            self.text = text

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Note) and other.text == self.text

        __hash__ = None  # type: ignore[assignment]

    messages = [{"id": "a", "role": "user", "content": LONG, "note": Note("x")}]
    result = compress(messages, recency_window=0)
    restored = uncompress(result.messages, result.verbatim)
    assert restored.missing_ids == []
    assert restored.messages == messages
