"""Thinking is bound to what was said before it: none stands behind a change, all comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refold import ContextWindowManager, MemoryStore, Options, Session, compress, uncompress
from refold.messages.provider import is_bound
from tests.conversations import SENTENCES, Conversation

LONG = " ".join(SENTENCES)


def anthropic(turns: int) -> Conversation:
    messages: Conversation = [{"role": "user", "content": "Read all of it."}]
    for n in range(turns):
        blocks = [
            {"type": "thinking", "thinking": f"I look at {n}.", "signature": "c2ln"},
            {"type": "tool_use", "id": f"t{n}", "name": "read", "input": {"n": n}},
        ]
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"{n} {LONG}"}
        messages.append({"role": "assistant", "content": blocks})
        messages.append({"role": "user", "content": [result]})
    return messages


def bedrock(turns: int) -> Conversation:
    messages: Conversation = [{"role": "user", "content": [{"text": "Read all of it."}]}]
    for n in range(turns):
        thought = {"reasoningText": {"text": f"I look at {n}.", "signature": "c2ln"}}
        use = {"toolUseId": f"t{n}", "name": "read", "input": {"n": n}}
        result = {"toolUseId": f"t{n}", "content": [{"text": f"{n} {LONG}"}]}
        messages.append(
            {"role": "assistant", "content": [{"reasoningContent": thought}, {"toolUse": use}]}
        )
        messages.append({"role": "user", "content": [{"toolResult": result}]})
    return messages


def langchain(turns: int) -> Conversation:
    messages: Conversation = [{"type": "human", "content": "Read all of it."}]
    for n in range(turns):
        thought = {"type": "thinking", "thinking": f"I look at {n}.", "signature": "c2ln"}
        use = {"type": "tool_use", "id": f"t{n}", "name": "read", "input": {"n": n}}
        calls = [{"name": "read", "args": {"n": n}, "id": f"t{n}", "type": "tool_call"}]
        messages.append({"type": "ai", "content": [thought, use], "tool_calls": calls})
        messages.append({"type": "tool", "tool_call_id": f"t{n}", "content": f"{n} {LONG}"})
    return messages


def pydantic_ai(turns: int) -> Conversation:
    asked = {"part_kind": "user-prompt", "content": "Read all of it."}
    messages: Conversation = [{"kind": "request", "parts": [asked]}]
    for n in range(turns):
        thought = {"part_kind": "thinking", "content": f"I look at {n}.", "signature": "c2ln"}
        use = {"part_kind": "tool-call", "tool_name": "read", "args": {"n": n}}
        result = {"part_kind": "tool-return", "tool_name": "read", "content": f"{n} {LONG}"}
        messages.append({"kind": "response", "parts": [thought, {**use, "tool_call_id": f"t{n}"}]})
        messages.append({"kind": "request", "parts": [{**result, "tool_call_id": f"t{n}"}]})
    return messages


def llama_index(turns: int) -> Conversation:
    asked = {"block_type": "text", "text": "Read all of it."}
    messages: Conversation = [{"role": "user", "blocks": [asked], "additional_kwargs": {}}]
    for n in range(turns):
        thought = {"block_type": "thinking", "content": f"I look at {n}."}
        use = {"block_type": "tool_call", "tool_call_id": f"t{n}", "tool_name": "read"}
        said = {"block_type": "text", "text": f"{n} {LONG}"}
        messages.append({"role": "assistant", "blocks": [thought, {**use, "tool_kwargs": {}}]})
        beside = {"tool_call_id": f"t{n}"}
        messages.append({"role": "tool", "blocks": [said], "additional_kwargs": beside})
    return messages


every_shape = pytest.mark.parametrize(
    "make", [anthropic, bedrock, langchain, pydantic_ai, llama_index]
)


def thinks(message: dict[str, Any]) -> bool:
    found = (message.get(name) for name in ("content", "parts", "blocks"))
    blocks = next((blocks for blocks in found if isinstance(blocks, list)), [])
    kinds = [b.get(name) for b in blocks for name in ("type", "part_kind", "block_type")]
    return "thinking" in kinds or any("reasoningContent" in block for block in blocks)


def first_difference(messages: Conversation, before: Conversation) -> int:
    pairs = zip(messages, before, strict=False)
    return next((n for n, (one, other) in enumerate(pairs) if one != other), len(before))


@every_shape
@pytest.mark.parametrize("profile", ["classic", "standard"])
@pytest.mark.parametrize("budget", [None, 900, 2_000])
def test_no_thinking_stands_behind_a_change(make: Any, profile: Any, budget: int | None) -> None:
    messages = make(10)
    store = MemoryStore()
    result = compress(messages, profile=profile, token_budget=budget, store=store)
    changed = first_difference(result.messages, messages)
    assert result.first_changed == changed
    assert not any(map(thinks, result.messages[changed:]))
    if changed < len(messages):
        assert result.thinking == "stripped"
    for originals in (store, result.verbatim):
        assert uncompress(result.messages, originals).messages == messages


@every_shape
@pytest.mark.parametrize("has_store", [True, False])
def test_what_was_folded_twice_comes_back_too(make: Any, has_store: bool) -> None:
    messages = make(12)
    store = MemoryStore()
    given: dict[str, Any] = {"store": store} if has_store else {}
    first = compress(messages[:17], profile="standard", token_budget=1_500, **given)
    again = compress(
        [*first.messages, *messages[17:]], profile="standard", token_budget=900, **given
    )
    assert again.thinking == "stripped"
    originals: Any = store if has_store else {**first.verbatim, **again.verbatim}
    assert uncompress(again.messages, originals).messages == messages


@pytest.mark.parametrize(
    ("make", "profile"),
    [
        (anthropic, "classic"),
        (llama_index, "standard"),
        *(
            pytest.param(make, profile, marks=pytest.mark.campaign)
            for make in (bedrock, langchain, pydantic_ai)
            for profile in ("classic", "standard")
        ),
    ],
)
def test_a_session_never_shows_thinking_that_was_thought_with_another_prefix(
    make: Any, profile: Any
) -> None:
    messages = make(20)
    store = MemoryStore()
    session = Session(profile=profile, token_budget=1_500, store=store)
    thought_with: dict[str, Conversation] = {}
    view: Conversation = []
    for end, message in enumerate(messages, 1):
        if thinks(message):
            thought_with[str(message)] = view
        session.append(message)
        view = session.view()
        for place, shown in enumerate(view):
            if thinks(shown):
                assert view[:place] == thought_with[str(shown)]
        assert uncompress(view, store).messages == messages[:end]
        session = Session.resume(session.save(store), store)
        assert session.view() == view
    assert session.report.folds
    assert session.report.thinking == "stripped"


@pytest.mark.parametrize("strategy", ["fold", "summarize", "truncate", "sliding_window"])
def test_neither_does_a_window(strategy: Any) -> None:
    window = ContextWindowManager(
        context_limit=4_000, reserve_output_tokens=1_000, strategy=strategy
    )
    fitted = window.fit(anthropic(12))
    assert fitted.first_changed < len(fitted.messages)
    assert not any(map(thinks, fitted.messages[fitted.first_changed :]))
    restored = uncompress(fitted.messages, fitted.verbatim).messages
    gone = [message for message in anthropic(12) if message not in restored]
    assert len(gone) == len(fitted.dropped_ids)


def test_who_tells_the_provider_to_drop_it_may_keep_it() -> None:
    result = compress(anthropic(10), token_budget=1_500, options=Options(thinking="keep"))
    assert result.thinking == "kept"
    assert any(map(thinks, result.messages[result.first_changed :]))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (None, True),
        ("claude-fable-5-1", True),
        ("claude-fable-5.2", True),
        ("us.anthropic.claude-opus-5-5-20261001-v1:0", True),
        ("claude-sonnet-4-5-20250929", False),
        ("claude-3-7-sonnet-20250219", False),
        ("claude-fable-5", False),
        ("gpt-5.1", False),
        ("claude-next", True),
    ],
)
def test_models_that_check(model: str | None, expected: bool) -> None:
    assert is_bound(model) is expected


def test_a_message_of_nothing_but_thinking_leaves_a_line() -> None:
    messages = anthropic(8)
    alone = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
    }
    messages += [alone, {"role": "user", "content": "And now?"}]
    result = compress(messages, profile="standard", token_budget=1_200)
    assert not any(map(thinks, result.messages[result.first_changed :]))
    assert all(message["content"] for message in result.messages)
    assert uncompress(result.messages, result.verbatim).messages == messages


def test_thinking_that_goes_after_a_view_was_kept_with_it_comes_back() -> None:
    """The two views say the same, so something has to show in the later one."""
    rows = json.dumps([{"id": n, "name": f"row {n}", "ok": True} for n in range(12)], indent=2)
    messages: Conversation = [{"role": "user", "content": "What is in the files? " * 8}]
    for n in range(2):
        blocks = [
            {"type": "thinking", "thinking": LONG, "signature": "c2ln"},
            {"type": "text", "text": LONG},
            {"type": "tool_use", "id": f"t{n}", "name": "read", "input": {"n": n}},
        ]
        result = {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"{rows}\n{n}"}
        messages.append({"role": "assistant", "content": blocks})
        messages.append({"role": "user", "content": [result]})
    store = MemoryStore()
    session = Session(profile="lossless", token_budget=100, store=store)
    for end, message in enumerate(messages, 1):
        session.append(message)
        if message["role"] == "user":
            assert uncompress(session.view(), store).messages == messages[:end]
