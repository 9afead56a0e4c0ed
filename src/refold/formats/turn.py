"""One turn of a conversation as providers write it: role, content, calls and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.errors import MessageError
from refold.formats.base import Reading, is_mapping, kind_of, read_id, read_role
from refold.formats.content import dump, read_content
from refold.model.wire import Path, spot

_CONTENT: Final[Path] = ("content",)
"""One for all messages: where the texts of most of them stand."""


def read_turn(message: Mapping[str, Any], place: str) -> Reading:
    """Read a turn in any provider's chat shape; what is not there is simply not read."""
    reading = Reading(role=read_role(message, place), id=read_id(message, place))
    if "parts" in message and "content" not in message:
        raise MessageError('has "parts" but no "content"; put what they say into "content"', place)
    call_id = message.get("tool_call_id")
    if call_id is not None and not isinstance(call_id, str):
        raise MessageError(f"must be a string, got {call_id!r}", f"{place}.tool_call_id")
    read_content(reading, message.get("content"), _CONTENT, place, call_id=call_id)
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
        if not is_mapping(call):
            raise MessageError(
                f"must be a mapping, got {kind_of(call)}",
                spot(place, ("tool_calls", number)),
            )
        body = call.get("function") or call.get("custom")
        body = body if is_mapping(body) else {}
        arguments = body.get("arguments", body.get("input", ""))
        reading.opaque.append(f"{body.get('name', '')} {dump(arguments)}")
        reading.calls.append(str(call.get("id") or number))
    legacy = message.get("function_call")
    if legacy is not None and is_mapping(legacy):
        reading.opaque.append(f"{legacy.get('name', '')} {dump(legacy.get('arguments', ''))}")
        reading.calls.append(str(legacy.get("name", "")))


def write_turn(messages: Sequence[Mapping[str, Any]], text: str) -> dict[str, Any]:
    """Write a turn of the assistant in the place of *messages*; the id of the first is kept."""
    first = messages[0]
    identity = {"id": first["id"]} if "id" in first else {}
    return {**identity, "role": "assistant", "content": text}
