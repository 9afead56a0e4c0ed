"""Chat messages with a role and content, as OpenAI, Anthropic, Vercel's AI SDK and most others do.

One reader knows what all of them may hold; the formats differ in how they are recognized.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.errors import MessageError
from refold.messages.formats.base import (
    Format,
    check_id,
    check_mapping,
    check_role,
    has_type,
    is_mapping,
)
from refold.messages.formats.content import read_content
from refold.messages.message import Call, Message, ToolResult
from refold.messages.wire import CLASS_KEY, Path

_CONTENT: Final[Path] = ("content",)
"""One for all messages: where the texts of most of them stand."""
_CALLS: Final = ("tool_calls", "toolCalls")
_ARGUMENTS: Final = ("arguments", "input", "args")
"""Where the arguments of a call stand: OpenAI's way, of custom tools, and in other libraries."""


def read_turn(message: Mapping[str, Any], place: str) -> Message:
    """Read a turn in any provider's chat shape; what is not there is simply not read."""
    turn: dict[str, Any] = message if type(message) is dict else dict(message)
    role = check_role(turn.get("role"), turn, place)
    reading = Message(role=role, caller_id=check_id(turn.get("id"), place))
    if "parts" in turn and "content" not in turn:
        raise MessageError('has "parts" but no "content"; did you mean format="gemini"?', place)
    result = _read_result(reading.role, turn, place)
    read_content(reading, turn.get("content"), _CONTENT, place, result=result)
    for key in ("refusal", "name"):
        if isinstance(turn.get(key), str):
            reading.opaque.append(turn[key])
    read_calls(reading, turn, place)
    return reading


def _read_result(role: str, turn: Mapping[str, Any], place: str) -> ToolResult | None:
    """Return what the whole turn is the result of, if a tool returned it."""
    name = "toolCallId" if "toolCallId" in turn else "tool_call_id"
    call_id = turn.get(name)
    if call_id is not None and not isinstance(call_id, str):
        raise MessageError(f"must be a string, got {call_id!r}", f"{place}.{name}")
    if call_id is None and role not in ("tool", "function"):
        return None
    tool = turn.get("name") or turn.get("tool_name")
    return ToolResult(call_id, turn, tool=tool if isinstance(tool, str) else "")


def read_calls(reading: Message, turn: Mapping[str, Any], place: str, path: Path = ()) -> None:
    """Read the calls of a turn of the assistant's: in OpenAI's forms, or as a flat record."""
    for key in _CALLS:
        calls = turn.get(key)
        if calls is not None and not isinstance(calls, list):
            raise MessageError(f"must be a list, got {type(calls).__name__}", f"{place}.{key}")
        for number, call in enumerate(calls or ()):
            where = (*path, key, number)
            check_mapping(call, "", where, place)
            _add_call(reading, call, str(call.get("id") or number), where)
    legacy = turn.get("function_call")
    if legacy is not None and is_mapping(legacy):
        _add_call(reading, legacy, str(legacy.get("name", "")), (*path, "function_call"))


def _add_call(reading: Message, call: Mapping[str, Any], id_: str, path: Path) -> None:
    for key in ("function", "custom"):
        if is_mapping(call.get(key)):
            call, path = call[key], (*path, key)
            break
    field = next((key for key in _ARGUMENTS if key in call), "")
    arguments, where = (call[field], (*path, field)) if field else ("", None)
    reading.calls.append(Call(id_, str(call.get("name", "")), arguments, where))


def write_turn(messages: Sequence[Mapping[str, Any]], text: str, role: str) -> dict[str, Any]:
    """Write a turn in the place of *messages*; the id of the first is kept."""
    first = messages[0]
    identity = {"id": first["id"]} if "id" in first else {}
    spoken = [m[CLASS_KEY] for m in messages if CLASS_KEY in m and m.get("role") == role]
    kind = {CLASS_KEY: spoken[0]} if spoken else {}
    if kind and "created_at" in first:  # else the object would have the time of the fold
        kind["created_at"] = first["created_at"]
    return {**kind, **identity, "role": role, "content": text}


_CALL_KEYS: Final = frozenset({"tool_calls", "function_call", "tool_call_id"})
_OPENAI_BLOCKS: Final = frozenset({"image_url", "input_audio", "file", "refusal"})
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})


def _is_openai(message: Mapping[str, Any]) -> bool:
    """Tell whether it has calls, answers one, or has blocks of OpenAI's; empty fields say nothing.

    Other libraries write all fields into every message.
    """
    content = message.get("content")
    blocks = content if isinstance(content, list) else ()
    has_calls = any(map(message.get, _CALL_KEYS))
    return has_calls or any(has_type(block, _OPENAI_BLOCKS) for block in blocks)


AI_SDK: Final = Format(
    name="ai-sdk",
    about="Vercel's AI SDK: blocks `tool-call` and `tool-result`, fields in camel case.",
    block_types=frozenset({"tool-call", "tool-result"}),
    read=read_turn,
    write=write_turn,
    sides="user first",
)

OPENAI: Final = Format(
    name="openai-chat",
    about="OpenAI's Chat Completions: `tool_calls` of the assistant, answered with `role: tool`.",
    keys=_CALL_KEYS,
    block_types=_OPENAI_BLOCKS,
    claims=_is_openai,
    read=read_turn,
    write=write_turn,
)

ANTHROPIC: Final = Format(
    name="anthropic",
    about="Anthropic's Messages API: blocks `tool_use`, `tool_result` and `thinking`.",
    block_types=_THINKING
    | {"tool_use", "tool_result", "server_tool_use", "web_search_tool_result"}
    | {"mcp_tool_use", "mcp_tool_result", "image", "document"},
    read=read_turn,
    write=write_turn,
    is_thinking=lambda block: has_type(block, _THINKING),
    sides="user first",
)

PLAIN: Final = Format(
    name="plain",
    about="A role and content, with or without an id: what all providers have in common.",
    read=read_turn,
    write=write_turn,
    sides="user first",  # any provider may be meant
)
