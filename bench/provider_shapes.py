"""A conversation of Chat Completions, written as each provider would have it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from records import Messages

Block = tuple[str, dict[str, Any]]
"""A role and one block of its content."""


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")


_SPEAKERS: Final = ("user", "assistant", "tool")
_ALL: Final = ("system", "developer", *_SPEAKERS)


def _turns(messages: Messages, roles: tuple[str, ...] = _SPEAKERS) -> Messages:
    """Return what *roles* have in a request, but no call without an answer and no such answer."""
    turns = [message for message in messages if message["role"] in roles]
    asked = {call["id"] for message in turns for call in message.get("tool_calls") or ()}
    answered = {message["tool_call_id"] for message in turns if message["role"] == "tool"}
    kept: Messages = []
    for message in turns:
        if message["role"] == "tool" and message["tool_call_id"] not in asked:
            continue
        calls = [call for call in message.get("tool_calls") or () if call["id"] in answered]
        rest = {key: value for key, value in message.items() if key != "tool_calls"}
        kept.append({**rest, "tool_calls": calls} if calls else rest)
    return kept


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    try:
        value = json.loads(call["function"]["arguments"])
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"raw": call["function"]["arguments"]}


def _blocks(
    messages: Messages,
    text: Callable[[str], dict[str, Any]],
    call: Callable[[dict[str, Any]], dict[str, Any]],
    result: Callable[[dict[str, Any], str], dict[str, Any]],
) -> Iterator[Block]:
    names: dict[str, str] = {}
    turns = _turns(messages)
    if turns and turns[0]["role"] != "user":
        yield "user", text("Begin.")  # as clients do: with these providers the user must
    for message in turns:
        if message["role"] == "tool":
            yield "user", result(message, names[message["tool_call_id"]])
            continue
        said = _text(message.get("content"))
        if said.strip():
            yield message["role"], text(said)
        for one in message.get("tool_calls") or ():
            names[one["id"]] = one["function"]["name"]
            yield message["role"], call(one)


def _grouped(blocks: Iterable[Block], key: str, names: dict[str, str]) -> Messages:
    """Give each side one message for what it says in a row."""
    return [
        {"role": names.get(role, role), key: [block for _, block in run]}
        for role, run in groupby(blocks, lambda block: block[0])
    ]


def openai_chat(messages: Messages) -> Messages:
    """Return *messages* as they are, but for what was never answered."""
    return _turns(messages, _ALL)


def anthropic(messages: Messages) -> Messages:
    """Write *messages* for the Messages API."""
    blocks = _blocks(
        messages,
        lambda text: {"type": "text", "text": text},
        lambda call: {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": _arguments(call),
        },
        lambda message, _: {
            "type": "tool_result",
            "tool_use_id": message["tool_call_id"],
            "content": _text(message["content"]),
        },
    )
    return _grouped(blocks, "content", {})


def gemini(messages: Messages) -> Messages:
    """Write *messages* as contents of Gemini."""
    blocks = _blocks(
        messages,
        lambda text: {"text": text},
        lambda call: {
            "functionCall": {
                "id": call["id"],
                "name": call["function"]["name"],
                "args": _arguments(call),
            }
        },
        lambda message, name: {
            "functionResponse": {
                "id": message["tool_call_id"],
                "name": name,
                "response": {"result": _text(message["content"])},
            }
        },
    )
    return _grouped(blocks, "parts", {"assistant": "model"})


def bedrock(messages: Messages) -> Messages:
    """Write *messages* for the Converse API."""
    blocks = _blocks(
        messages,
        lambda text: {"text": text},
        lambda call: {
            "toolUse": {
                "toolUseId": call["id"],
                "name": call["function"]["name"],
                "input": _arguments(call),
            }
        },
        lambda message, _: {
            "toolResult": {
                "toolUseId": message["tool_call_id"],
                "content": [{"text": _text(message["content"]) or "(nothing)"}],
                "status": "success",
            }
        },
    )
    return _grouped(blocks, "content", {})


def responses(messages: Messages) -> Messages:
    """Write *messages* as items of the Responses API."""
    items: Messages = []
    for message in _turns(messages, _ALL):
        if message["role"] == "tool":
            call_id = message["tool_call_id"]
            output = _text(message["content"])
            items.append({"type": "function_call_output", "call_id": call_id, "output": output})
            continue
        said = _text(message.get("content"))
        if said.strip():
            parts = [{"type": "input_text", "text": said}]
            content = said if message["role"] == "assistant" else parts
            items.append({"role": message["role"], "content": content})
        for call in message.get("tool_calls") or ():
            items.append({"type": "function_call", "call_id": call["id"], **call["function"]})
    return items


SHAPES: Final[dict[str, Callable[[Messages], Messages]]] = {
    "openai-chat": openai_chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "bedrock": bedrock,
}
