"""LangChain messages, as objects or dumped: `human`, `ai`, `system` and `tool` have fields each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.errors import MessageError
from refold.messages.formats.base import (
    ONE_SHAPE,
    Format,
    add_text,
    has_type,
    is_mapping,
)
from refold.messages.formats.content import read_block, read_content
from refold.messages.message import Call, Message, ToolResult
from refold.messages.wire import CLASS_KEY

_ROLES: Final = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "developer": "developer",
    "chat": "",
}
_CALL_TYPES: Final = frozenset({"tool_use", "function_call", "tool_call"})
"""Blocks that are a provider's form of a call; every one stands in `tool_calls` as well."""
_CHUNK: Final = "MessageChunk"
_CLASSES: Final = {
    "assistant": ("langchain_core.messages.ai:AIMessage", "ai"),
    "user": ("langchain_core.messages.human:HumanMessage", "human"),
}


def _role(message: Mapping[str, Any]) -> str | None:
    """Return whose message it is; `None` if it is none of LangChain's."""
    kind = message.get("type")
    if not isinstance(kind, str):
        return None
    kind = kind.removesuffix(_CHUNK).lower()
    if kind == "chat":
        return str(message.get("role") or "user")
    return _ROLES.get(kind)


def _matches(message: Mapping[str, Any]) -> bool:
    return "content" in message and "role" not in message and _role(message) is not None


def _read(message: Mapping[str, Any], place: str) -> Message:
    role = _role(message)
    if role is None:
        problem = f"is not a LangChain type, got {message.get('type')!r}"
        raise MessageError(f"{problem}; {ONE_SHAPE}", f"{place}.type")
    reading = Message(role=role)
    result = None
    if role == "tool":
        tool = message.get("name")
        call_id = message.get("tool_call_id")
        result = ToolResult(call_id, message, tool=tool if isinstance(tool, str) else "")
    content = message.get("content")
    blocks = content if isinstance(content, list) else ()
    if content is not blocks:
        read_content(reading, content, ("content",), place, result=result)
    for number, block in enumerate(blocks):
        path = ("content", number)
        if isinstance(block, str):
            add_text(reading, block, path, place, result=result)
        elif not has_type(block, _CALL_TYPES):
            read_block(reading, block, path, place, result)
    calls = message.get("tool_calls")
    is_twice = any(has_type(block, _CALL_TYPES) for block in blocks)  # and both must say the same
    for number, call in enumerate(calls if isinstance(calls, list) else ()):
        if is_mapping(call):
            name = str(call.get("name", ""))
            where = None if is_twice else ("tool_calls", number, "args")
            reading.calls.append(Call(str(call.get("id") or number), name, call.get("args"), where))
    return reading


def _is_thinking(block: object) -> bool:
    kind = str(block.get("type")) if is_mapping(block) else ""
    return "thinking" in kind or "reasoning" in kind


def _write(messages: Sequence[Mapping[str, Any]], text: str, role: str) -> dict[str, Any]:
    name, kind = _CLASSES[role]
    is_object = any(CLASS_KEY in message for message in messages)
    return {**({CLASS_KEY: name} if is_object else {}), "type": kind, "content": text}


FORMAT: Final[Format] = Format(
    name="langchain",
    keys=frozenset({"type"}),
    claims=_matches,
    read=_read,
    write=_write,
    is_thinking=_is_thinking,
    sides="user first",
)
