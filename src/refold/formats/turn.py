"""One turn of a conversation as providers write it: role, content, calls and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.errors import MessageError
from refold.formats.base import Reading, check_id, check_role, is_mapping, kind_of
from refold.formats.content import read_content
from refold.model.call import Call
from refold.model.wire import CLASS_KEY, Path, spot

_CONTENT: Final[Path] = ("content",)
"""One for all messages: where the texts of most of them stand."""


def read_turn(message: Mapping[str, Any], place: str) -> Reading:
    """Read a turn in any provider's chat shape; what is not there is simply not read."""
    turn: dict[str, Any] = message if type(message) is dict else dict(message)
    reading = Reading(check_role(turn.get("role"), turn, place), check_id(turn.get("id"), place))
    if "parts" in turn and "content" not in turn:
        raise MessageError('has "parts" but no "content"; is format="gemini" meant?', place)
    call_id = turn.get("tool_call_id")
    if call_id is not None and not isinstance(call_id, str):
        raise MessageError(f"must be a string, got {call_id!r}", f"{place}.tool_call_id")
    read_content(reading, turn.get("content"), _CONTENT, place, call_id=call_id)
    for key in ("refusal", "name"):
        if isinstance(turn.get(key), str):
            reading.opaque.append(turn[key])
    read_calls(reading, turn, place)
    return reading


def read_calls(reading: Reading, turn: Mapping[str, Any], place: str) -> None:
    """Read the calls of a turn of the assistant's, in either of OpenAI's forms."""
    calls = turn.get("tool_calls")
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
        id_ = str(call.get("id") or number)
        reading.calls.append(Call(id_, str(body.get("name", "")), arguments))
    legacy = turn.get("function_call")
    if legacy is not None and is_mapping(legacy):
        name = str(legacy.get("name", ""))
        reading.calls.append(Call(name, name, legacy.get("arguments", "")))


def write_turn(messages: Sequence[Mapping[str, Any]], text: str, role: str) -> dict[str, Any]:
    """Write a turn in the place of *messages*; the id of the first is kept."""
    first = messages[0]
    identity = {"id": first["id"]} if "id" in first else {}
    spoken = [m[CLASS_KEY] for m in messages if CLASS_KEY in m and m.get("role") == role]
    kind = {CLASS_KEY: spoken[0]} if spoken else {}
    if kind and "created_at" in first:  # else the object would have the time of the fold
        kind["created_at"] = first["created_at"]
    return {**kind, **identity, "role": role, "content": text}
