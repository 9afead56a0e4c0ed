"""Pictures and long arguments are written shorter in the shape of every provider."""

from __future__ import annotations

from typing import Any

import pytest

from refold.conversation.strategies import clip_arguments, evict_media
from refold.messages.formats import load

LONG = "x" * 2_000
HANDLE = "abcde"

PICTURES: dict[str, tuple[dict[str, Any], Any]] = {
    "openai-chat": (
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:a,b"}}]},
        {"type": "text"},
    ),
    "openai-responses": (
        {"role": "user", "content": [{"type": "input_image", "image_url": "https://a.example/b"}]},
        {"type": "input_text"},
    ),
    "anthropic": (
        {
            "role": "user",
            "content": [
                {"type": "image", "source": {"type": "url", "url": "https://a.example/b"}},
                {"type": "tool_result", "tool_use_id": "c", "content": "x"},
            ],
        },
        {"type": "text"},
    ),
    "gemini": (
        {"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "aGk="}}]},
        {},
    ),
    "bedrock": (
        {"role": "user", "content": [{"image": {"format": "png", "source": {"bytes": b"hi"}}}]},
        {},
    ),
    "llama-index": (
        {"role": "user", "blocks": [{"block_type": "image", "url": "https://a.example/b"}]},
        {"block_type": "text"},
    ),
    "langchain": (
        {"type": "human", "content": [{"type": "image_url", "image_url": {"url": "data:a,b"}}]},
        {"type": "text"},
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_becomes_a_line_in_a_block_of_the_same_shape(name: str) -> None:
    wire, shape = PICTURES[name]
    (message,) = load([wire])
    assert message.format == name
    rewritten = evict_media(message, HANDLE)
    assert rewritten is not None
    block = next(value for value in rewritten.values() if isinstance(value, list))[0]
    text = block.pop("text")
    assert text.startswith("[image")
    assert text.endswith(f"#{HANDLE}]")
    assert block == shape
    (again,) = load([{**rewritten, **wire}])
    assert again.images == message.images


def test_a_picture_among_what_the_user_of_pydantic_ai_says_becomes_a_string() -> None:
    content = ["Look.", {"kind": "image-url", "url": "https://a.example/b.png"}]
    part = {"part_kind": "user-prompt", "content": content}
    (message,) = load([{"kind": "request", "parts": [part]}])
    rewritten = evict_media(message, HANDLE)
    assert rewritten is not None
    said = rewritten["parts"][0]["content"]
    assert said[0] == "Look."
    assert said[1].startswith("[image")


def test_what_is_signed_stays() -> None:
    signed = {"thoughtSignature": "c2ln"}
    data = {"inlineData": {"mimeType": "image/png", "data": "aGk="}, **signed}
    call = {"functionCall": {"name": "write", "args": {"text": LONG}}, **signed}
    (message,) = load([{"role": "model", "parts": [data, call]}])
    assert message.images == 1
    assert evict_media(message, HANDLE) is None
    assert clip_arguments(message, HANDLE) is None


GIVEN = {"path": "a.py", "text": LONG}
CALLS: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "role": "assistant",
        "tool_calls": [{"id": "c", "function": {"name": "w", "arguments": f'{{"t": "{LONG}"}}'}}],
    },
    "openai-responses": {
        "type": "function_call",
        "call_id": "c",
        "name": "w",
        "arguments": f'{{"t": "{LONG}"}}',
    },
    "anthropic": {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c", "name": "w", "input": GIVEN}],
    },
    "gemini": {"role": "model", "parts": [{"functionCall": {"name": "w", "args": GIVEN}}]},
    "bedrock": {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": "c", "name": "w", "input": GIVEN}}],
    },
    "pydantic-ai": {
        "kind": "response",
        "parts": [{"part_kind": "tool-call", "tool_name": "w", "tool_call_id": "c", "args": GIVEN}],
    },
    "llama-index": {
        "role": "assistant",
        "blocks": [
            {
                "block_type": "tool_call",
                "tool_call_id": "c",
                "tool_name": "w",
                "tool_kwargs": GIVEN,
            }
        ],
    },
    "langchain": {
        "type": "ai",
        "content": "",
        "tool_calls": [{"id": "c", "name": "w", "args": GIVEN}],
    },
    "ai-sdk": {
        "role": "assistant",
        "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "w", "input": GIVEN}],
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_long_arguments_are_clipped_where_they_stand(name: str) -> None:
    (message,) = load([CALLS[name]])
    assert message.format == name
    rewritten = clip_arguments(message, HANDLE)
    assert rewritten is not None
    (again,) = load([rewritten])
    (before,), (after,) = message.calls, again.calls
    assert (after.id, after.name) == (before.id, before.name)
    assert after.arguments is not None
    assert before.arguments is not None
    assert list(after.arguments) == list(before.arguments)
    assert len(after.spelled) < 500


def test_a_call_that_langchain_says_twice_stays() -> None:
    block = {"type": "tool_use", "id": "c", "name": "w", "input": GIVEN}
    wire = {**CALLS["langchain"], "content": [block]}
    (message,) = load([wire])
    assert clip_arguments(message, HANDLE) is None
