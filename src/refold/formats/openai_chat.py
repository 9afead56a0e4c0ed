"""OpenAI chat messages: `tool_calls` on the assistant's side, `role: tool` answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from refold.errors import MessageError
from refold.formats.base import Format, Reading, read_id, read_role, spot
from refold.formats.content import dump, read_content

_PART_TYPES: Final = frozenset({"image_url", "input_audio", "file", "refusal"})


def _marks(message: Mapping[str, Any]) -> bool:
    if message.get("tool_calls") or message.get("function_call") or message.get("tool_call_id"):
        return True
    content = message.get("content")
    return isinstance(content, list) and any(
        isinstance(part, Mapping) and part.get("type") in _PART_TYPES for part in content
    )


def _read(message: Mapping[str, Any], place: str) -> Reading:
    reading = Reading(role=read_role(message, place), id=read_id(message, place))
    call_id = message.get("tool_call_id")
    if call_id is not None and not isinstance(call_id, str):
        raise MessageError(f"must be a string, got {call_id!r}", f"{place}.tool_call_id")
    read_content(reading, message.get("content"), ("content",), place, call_id=call_id)
    for key in ("refusal", "name"):
        if isinstance(message.get(key), str):
            reading.opaque.append(message[key])
    _read_calls(reading, message, place)
    return reading


def _read_calls(reading: Reading, message: Mapping[str, Any], place: str) -> None:
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise MessageError(f"must be a list, got {type(calls).__name__}", f"{place}.tool_calls")
    for number, call in enumerate(calls or ()):
        if not isinstance(call, Mapping):
            raise MessageError(
                f"must be a mapping, got {type(call).__name__}",
                spot(place, ("tool_calls", number)),
            )
        body = call.get("function") or call.get("custom")
        body = body if isinstance(body, Mapping) else {}
        arguments = body.get("arguments", body.get("input", ""))
        reading.opaque.append(f"{body.get('name', '')} {dump(arguments)}")
        reading.calls.append(str(call.get("id") or number))
    legacy = message.get("function_call")
    if isinstance(legacy, Mapping):
        reading.opaque.append(f"{legacy.get('name', '')} {dump(legacy.get('arguments', ''))}")
        reading.calls.append(str(legacy.get("name", "")))


FORMAT: Final = Format(name="openai-chat", marks=_marks, read=_read)
