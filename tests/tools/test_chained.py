"""Managers on managers: whatever layer a text went through, its original is the original."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import (
    CompressionManager,
    Compressor,
    ContextWindowManager,
    MemoryStore,
    Session,
    SqliteStore,
    retrieve_tool,
    uncompress,
)
from tests.conversation.driving import PROSE
from tests.conversations import Conversation

HANDLE = re.compile(r"#([a-z]{5,36})")


def loop(turns: int, *, ids: bool = False) -> Conversation:
    messages: Conversation = [{"role": "user", "content": "Read every log and tell me."}]
    for n in range(turns):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        log = f"Log {n}. {PROSE * 6}Pump P-{n} stood still for {n} hours."
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{n}", "content": log},
        ]
    messages.append({"role": "assistant", "content": "I have read them all."})
    return [{"id": f"m{n}", **m} for n, m in enumerate(messages)] if ids else messages


def whole(messages: Conversation) -> Conversation:
    return [{k: v for k, v in m.items() if k != "compressed_content"} for m in messages]


@pytest.mark.parametrize("name", [None, "customer-1"])
@pytest.mark.parametrize("ids", [False, True])
@pytest.mark.parametrize("limit", [450, 900, 100_000])
@pytest.mark.parametrize("in_place", [False, True])
def test_every_layer_comes_off(name: str | None, ids: bool, limit: int, in_place: bool) -> None:
    store = MemoryStore()
    messages = loop(8, ids=ids)
    manager = CompressionManager(store=store, conversation=name)
    window = ContextWindowManager(
        context_limit=limit, reserve_output_tokens=0, store=store, conversation=name
    )
    manager.compress(messages, in_place=in_place)
    view = manager.view(messages)
    assert view != whole(messages), "the test is about shortened messages"
    assert uncompress(view, store, conversation=name).messages == whole(messages)
    fitted = window.fit(view)
    assert uncompress(fitted.messages, store, conversation=name).messages == whole(messages)
    again = window.fit([*fitted.messages, {"role": "user", "content": "And now?"}])
    back = uncompress(again.messages, store, conversation=name).messages
    assert back == [*whole(messages), {"role": "user", "content": "And now?"}]


@pytest.mark.parametrize("limit", [450, 900, 100_000])
def test_short_forms_beside_the_content_come_off_without_any_store(limit: int) -> None:
    messages = loop(8, ids=True)
    CompressionManager().compress(messages)
    window = ContextWindowManager(context_limit=limit, reserve_output_tokens=0)
    fitted = window.fit(messages)
    assert uncompress(fitted.messages, fitted.verbatim).messages == whole(messages)


@pytest.mark.parametrize("name", [None, "customer-1"])
@pytest.mark.parametrize("limit", [450, 900])
def test_a_model_gets_the_original_and_not_a_shorter_one(name: str | None, limit: int) -> None:
    store = MemoryStore()
    messages = loop(8)
    manager = CompressionManager(store=store, conversation=name)
    manager.compress(messages)
    window = ContextWindowManager(
        context_limit=limit, reserve_output_tokens=0, store=store, conversation=name
    )
    view = window.fit(manager.view(messages)).messages
    tool = retrieve_tool(store, messages=view, conversation=name, max_tokens=1_000_000)
    handles = HANDLE.findall(json.dumps(view))
    assert handles
    for handle in handles:
        answer = tool.call({"handle": handle})
        assert "whole text: #" not in answer
        assert "Log " in answer
        assert PROSE * 6 in answer


def test_a_store_in_a_file_will_do(tmp_path: Any) -> None:
    messages = loop(8)
    with SqliteStore(tmp_path / "s.db") as store:
        manager = CompressionManager(store=store)
        manager.compress(messages)
        window = ContextWindowManager(context_limit=700, reserve_output_tokens=0, store=store)
        view = window.fit(manager.view(messages)).messages
        assert uncompress(view, store).messages == whole(messages)


# Every order


def by_manager(messages: Conversation, store: MemoryStore, name: str | None, _: int) -> Any:
    manager = CompressionManager(store=store, conversation=name)
    manager.compress(messages, in_place=False)
    return manager.view(messages)


def by_window(messages: Conversation, store: MemoryStore, name: str | None, budget: int) -> Any:
    window = ContextWindowManager(
        context_limit=budget, reserve_output_tokens=0, store=store, conversation=name
    )
    return window.fit(messages).messages


def by_session(messages: Conversation, store: MemoryStore, name: str | None, budget: int) -> Any:
    session = Session(store=store, conversation=name, token_budget=budget, profile="standard")
    session.extend(messages)
    return session.view()


def by_compressor(messages: Conversation, store: MemoryStore, name: str | None, budget: int) -> Any:
    compressor = Compressor(store=store, conversation=name, token_budget=budget, profile="standard")
    return compressor.compress(messages).messages


Layer = Callable[[Conversation, MemoryStore, str | None, int], Any]
LAYERS: tuple[Layer, ...] = (by_manager, by_window, by_session, by_compressor)


def check(layers: Sequence[tuple[Layer, int]], name: str | None, *, ids: bool) -> None:
    """Send a conversation through *layers*; after each, what was said can be had word for word."""
    store = MemoryStore()
    messages = view = loop(8, ids=ids)
    for layer, budget in layers:
        view = layer([dict(message) for message in view], store, name, budget)
        assert uncompress(view, store, conversation=name).messages == messages
        tool = retrieve_tool(store, messages=view, conversation=name, max_tokens=1_000_000)
        for handle in HANDLE.findall(json.dumps(view)):
            _, _, answer = tool.call({"handle": handle}).partition("\n")
            assert PROSE * 6 in answer
            assert not HANDLE.search(answer)


def _named(order: tuple[Layer, ...]) -> str:
    return "-".join(layer.__name__.removeprefix("by_") for layer in order)


@pytest.mark.campaign
@pytest.mark.parametrize("order", list(permutations(LAYERS, 3)), ids=_named)
@pytest.mark.parametrize(("name", "ids"), [(None, False), ("customer-1", True)])
def test_every_order_of_three_comes_off(
    order: tuple[Layer, ...], name: str | None, ids: bool
) -> None:
    check(list(zip(order, (2_000, 900, 500), strict=True)), name, ids=ids)


@given(
    layers=st.lists(
        st.tuples(st.sampled_from(LAYERS), st.sampled_from((3_000, 1_500, 900, 500, 400))),
        min_size=1,
        max_size=4,
    ),
    name=st.sampled_from((None, "customer-1")),
    ids=st.booleans(),
)
def test_whatever_the_layers_each_comes_off(
    layers: list[tuple[Layer, int]], name: str | None, ids: bool
) -> None:
    check(layers, name, ids=ids)


# What a layer leaves as it is, while another one before it changes


def everything(messages: Conversation, store: MemoryStore, name: str | None) -> Any:
    """Return a view in which whatever is long was shortened, whoever said it."""
    manager = CompressionManager(store=store, conversation=name, compress_token_limit=100)
    manager.compress(messages, in_place=False)
    return manager.view(messages)


def test_notes_are_found_again_behind_new_stand_ins() -> None:
    store = MemoryStore()
    told = [{"role": "assistant", "content": f"Report {n}. {PROSE * 6}"} for n in range(4)]
    messages = [{"role": "user", "content": "Go on."}, *told, {"role": "user", "content": "And?"}]
    view = everything(messages, store, None)
    assert "whole text: #" in view[4]["content"]
    ends = [view[1], view[4]]
    folded = Compressor(store=store, token_budget=400, pins=[lambda m: m in ends]).compress(view)
    assert [message for message in folded.messages if message in view[1:5]] == ends
    assert uncompress(folded.messages, store).messages == messages


def test_notes_are_found_again_behind_new_notes() -> None:
    store = MemoryStore()
    messages = loop(8)
    first = CompressionManager(store=store, compress_tool_results_limit=6)
    first.compress(messages, in_place=False)
    view = first.view(messages)
    assert uncompress(view, store).messages == messages
    again = [*view, {"role": "user", "content": f"{PROSE * 9}"}]
    assert uncompress(everything(again, store, None), store).messages == [*messages, again[-1]]


@pytest.mark.parametrize("name", [None, "customer-1"])
def test_thinking_that_was_left_out_comes_back_from_behind_a_note(name: str | None) -> None:
    store = MemoryStore()
    thought = {"type": "thinking", "thinking": PROSE, "signature": "c2ln"}
    messages: Conversation = [{"role": "user", "content": f"Read every log. {PROSE * 4}"}]
    for n in range(4):
        call = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"log": n}}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"{n}. {PROSE * 6}"}
        messages.append({"role": "assistant", "content": [thought, call]})
        messages.append({"role": "user", "content": [result]})
    messages.append({"role": "user", "content": "And?"})
    compressor = Compressor(store=store, conversation=name, token_budget=1_600)
    view = compressor.compress(messages).messages
    assert uncompress(view, store, conversation=name).messages == messages
    shorter = everything(view, store, name)
    assert shorter != view
    assert uncompress(shorter, store, conversation=name).messages == messages
