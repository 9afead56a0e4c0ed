"""Broken and mixed conversations: refused with the place and advice, or folded without loss."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from refold import CompressionManager, MessageError, compress, uncompress
from refold.messages.wire import Path
from tests.conversations import Conversation

LOG = "\n".join(f"line {n} of the build, module_{n % 7} compiled in {n} ms" for n in range(60))

SHAPES: dict[str, Conversation] = {
    "openai-chat": [
        {"role": "user", "content": "Do it."},
        {
            "role": "assistant",
            "content": "ok",
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": LOG},
    ],
    "openai-responses": [
        {"role": "user", "content": [{"type": "input_text", "text": "Do it."}]},
        {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": LOG},
    ],
    "anthropic": [
        {"role": "user", "content": "Do it."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "tool_use", "id": "c", "name": "read", "input": {"n": 1}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": LOG}],
        },
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "Do it."}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "read", "args": {}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c", "name": "read", "response": {"r": LOG}}}],
        },
    ],
    "bedrock": [
        {"role": "user", "content": [{"text": "Do it."}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "c", "name": "read", "input": {}}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": LOG}]}}],
        },
    ],
    "langchain": [
        {"type": "human", "content": "Do it."},
        {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "read", "args": {}}]},
        {"type": "tool", "tool_call_id": "c", "content": LOG},
    ],
    "pydantic-ai": [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Do it."}]},
        {
            "kind": "response",
            "parts": [
                {"part_kind": "tool-call", "tool_name": "read", "tool_call_id": "c", "args": "{}"}
            ],
        },
        {
            "kind": "request",
            "parts": [
                {
                    "part_kind": "tool-return",
                    "tool_name": "read",
                    "tool_call_id": "c",
                    "content": LOG,
                }
            ],
        },
    ],
    "llama-index": [
        {"role": "user", "blocks": [{"block_type": "text", "text": "Do it."}]},
        {
            "role": "assistant",
            "blocks": [{"block_type": "tool_call", "tool_call_id": "c", "tool_name": "read"}],
        },
        {
            "role": "tool",
            "blocks": [{"block_type": "text", "text": LOG}],
            "additional_kwargs": {"tool_call_id": "c"},
        },
    ],
    "ai-sdk": [
        {"role": "user", "content": "Do it."},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "read", "input": {}}],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c",
                    "toolName": "read",
                    "output": {"type": "text", "value": LOG},
                }
            ],
        },
    ],
}
CHAT = ("openai-chat", "anthropic", "ai-sdk")
"""These differ by the blocks in their turns alone, so that one may hold those of another."""


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where something stands in *value*."""
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, item in steps:
        yield (*path, step)
        if isinstance(item, dict | list):
            yield from places(item, (*path, step))


def broken(messages: Conversation) -> Iterator[Conversation]:
    """Yield *messages* with one thing missing, of another type, or half there."""
    for *path, last in places(messages):
        values: list[object] = [None, 7, [], "half a wo", {}]
        for value in values:
            copied: Any = copy.deepcopy(messages)
            holder = copied
            for step in path:
                holder = holder[step]
            if value == {}:
                del holder[last]
            else:
                holder[last] = value
            yield copied


@contextmanager
def noting(refused: list[MessageError]) -> Iterator[None]:
    """Note what is refused, and let everything else be raised."""
    try:
        yield
    except MessageError as error:
        refused.append(error)


def check(messages: Any) -> None:
    """Check that *messages* come back, or are refused with the place of what is wrong."""
    before = copy.deepcopy(messages)
    refused: list[MessageError] = []
    with noting(refused):
        result = compress(messages, token_budget=200)
        restored = uncompress(result.messages, result.verbatim)
        assert restored.messages == before
        assert not restored.missing_ids
    with noting(refused):  # it reads one message at a time, so it may refuse what others explain
        CompressionManager(compress_tool_results_limit=1).should_compress(messages)
    assert all("messages[" in str(error) for error in refused), refused
    assert messages == before


@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_is_broken_is_refused_with_its_place_or_comes_back(shape: str) -> None:
    for messages in broken(SHAPES[shape]):
        check(messages)


@pytest.mark.parametrize("shape", SHAPES)
def test_answers_without_calls_and_calls_without_answers_come_back(shape: str) -> None:
    asked, calling, answering = SHAPES[shape]
    check([asked, answering])
    check([asked, calling])
    check([asked, answering, calling])


@pytest.mark.parametrize("other", SHAPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_of_another_shape_is_refused(shape: str, other: str) -> None:
    mixed = [*SHAPES[shape], SHAPES[other][1], SHAPES[other][2]]
    if shape == other or (shape in CHAT and other in CHAT):
        check(mixed)
        return
    if "openai-responses" in (shape, other) and {"anthropic", "ai-sdk"} & {shape, other}:
        pytest.skip("a message of the Responses API may hold blocks, which are read")
    if "openai-responses" in (shape, other) and "langchain" in (shape, other):
        pytest.skip("items of an unknown type travel along, as new ones of the API must")
    with pytest.raises(MessageError, match=r"messages\[\d\].*(the same format|expected|needs a)"):
        compress(mixed)
