"""Messages of pydantic-ai, as objects or dumped: requests and responses made of parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.messages.formats.base import (
    Format,
    add_media,
    add_text,
    check_list_of,
    is_mapping,
    media_kind,
)
from refold.messages.formats.content import add_answer, add_fields, count_unknown, dump
from refold.messages.message import Call, Message, Part, ToolResult
from refold.messages.wire import CLASS_KEY, Path

_MODULE: Final = "pydantic_ai.messages"
_RETURNS: Final = frozenset({"tool-return", "retry-prompt", "builtin-tool-return"})
_SILENT: Final = frozenset(
    "timestamp tool_call_id id provider_name provider_details signature part_kind".split()
)


def _matches(message: Mapping[str, Any]) -> bool:
    return (
        message.get("kind") in ("request", "response")
        and isinstance(message.get("parts"), list)
        and "role" not in message
    )


def _read(message: Mapping[str, Any], place: str) -> Message:
    is_request = message.get("kind") == "request"
    reading = Message(role="user" if is_request else "assistant")
    kinds: set[str] = set()
    for part, path in check_list_of(message, "parts", "part", "pydantic-ai's", place):
        kinds.add(str(part.get("part_kind")))
        _read_part(reading, part, path, place)
    if is_request and kinds == {"system-prompt"}:
        reading.role = "system"
    instructions = message.get("instructions")
    if isinstance(instructions, str):
        reading.opaque.append(instructions)
    return reading


def _read_part(reading: Message, part: Mapping[str, Any], path: Path, place: str) -> None:
    kind, content = str(part.get("part_kind")), part.get("content")
    here = (*path, "content")
    if kind in _RETURNS and (part.get("tool_name") or kind != "retry-prompt"):
        call_id, tool = str(part.get("tool_call_id") or ""), str(part.get("tool_name") or "")
        _read_return(reading, content, here, ToolResult(call_id, part, path, tool))
    elif kind in ("tool-call", "builtin-tool-call"):
        name, id_ = str(part.get("tool_name", "")), str(part.get("tool_call_id") or "")
        arguments = part.get("args") or ""
        where = (*path, "args") if arguments and kind == "tool-call" else None
        reading.calls.append(Call(id_, name, arguments, where))
    elif kind == "thinking":
        reading.thinking.append(dump(content or ""))
    elif kind == "system-prompt":
        reading.opaque.append(dump(content or ""))
    elif kind == "compaction":
        reading.is_fixed = True
        reading.opaque.append(dump(content or ""))
    elif kind in ("text", "user-prompt", "retry-prompt") and isinstance(content, str):
        add_text(reading, content, here, place)
    elif kind == "user-prompt" and isinstance(content, list):
        for number, item in enumerate(content):
            _read_prompt(reading, item, (*here, number), place)
    else:
        rest = {name: value for name, value in part.items() if name not in _SILENT}
        count_unknown(reading, rest, reading.opaque)


def _read_prompt(reading: Message, item: object, path: Path, place: str) -> None:
    """Read a piece of what the user said: words, or media in one form or another."""
    if isinstance(item, str):
        add_text(reading, item, path, place)
    elif is_mapping(item) and isinstance(item.get("content"), str):
        add_text(reading, item["content"], (*path, "content"), place)
    elif not is_mapping(item):
        reading.images += 1
    elif item.get("kind") != "cache-point":
        kind = media_kind(item.get("media_type") or item.get("kind"))
        add_media(reading, kind, path, item)


def _read_return(reading: Message, content: object, path: Path, result: ToolResult) -> None:
    """Read what a tool returned: any object at all."""
    if is_mapping(content) and CLASS_KEY not in content:
        before = len(reading.parts)
        add_fields(reading, content, path, result)
        if len(reading.parts) > before:
            return
    elif isinstance(content, str):
        reading.parts.append(Part(path, content, result))
        return
    elif content is not None:
        reading.opaque.append(dump(content))
    add_answer(reading, path, result)


def _write_text(beside: Mapping[str, Any], text: str) -> str | dict[str, Any]:
    """Write a part of a message of the model's; among media, what the user says are strings."""
    if "parts" not in beside:
        return text
    class_ = {CLASS_KEY: f"{_MODULE}:TextPart"} if CLASS_KEY in beside else {}
    return {**class_, "part_kind": "text", "content": text}


def _write(messages: Sequence[Mapping[str, Any]], text: str, role: str) -> dict[str, Any]:
    is_model = role == "assistant"
    message: dict[str, Any] = {"kind": "response" if is_model else "request"}
    part: dict[str, Any] = {"part_kind": "text" if is_model else "user-prompt", "content": text}
    if any(CLASS_KEY in source for source in messages):
        times = [source["timestamp"] for source in messages if source.get("timestamp")]
        message |= {"timestamp": times[0]} if times and is_model else {}
        if not is_model:
            spoken = [p for source in messages for p in source["parts"] if p.get("timestamp")]
            part |= {"timestamp": spoken[0]["timestamp"]} if spoken else {}
        message[CLASS_KEY] = f"{_MODULE}:{'ModelResponse' if is_model else 'ModelRequest'}"
        part[CLASS_KEY] = f"{_MODULE}:{'TextPart' if is_model else 'UserPromptPart'}"
    return {**message, "parts": [part]}


FORMAT: Final[Format] = Format(
    name="pydantic-ai",
    keys=frozenset({"kind"}),
    claims=_matches,
    read=_read,
    write=_write,
    write_text=_write_text,
    blocks="parts",
    is_thinking=lambda part: part.get("part_kind") == "thinking",
    sides="user first",
)
