"""Managers on managers: whatever layer a text went through, its original is the original."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from refold import (
    CompressionManager,
    ContextWindowManager,
    MemoryStore,
    SqliteStore,
    retrieve_tool,
    uncompress,
)
from tests.agent.driving import PROSE
from tests.conversations import Conversation

HANDLE = re.compile(r"#([a-z]{8,36})")


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
    tool = retrieve_tool(store, messages=view, conversation=name, max_chars=1_000_000)
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
