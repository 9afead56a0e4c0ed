"""Rollout files of Codex: one record a line, a Responses item under `payload` (or bare, before)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.formats.base import Format, Reading, add_text, check_role, has_type, is_tagged
from refold.formats.content import add_answer, dump, read_content
from refold.model.message import Message
from refold.model.wire import Path

_CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_RESULTS: Final = frozenset({"function_call_output", "custom_tool_call_output"})
_SAID: Final = tuple("action operation name arguments code queries output outputs results".split())
"""What a call of the provider's own may say, and what came of it: both are read by the model."""
_ITEMS: Final = _CALLS | _RESULTS | {"message", "reasoning"}
_ENDINGS: Final = ("_call", "_call_output")
"""How the types of all other calls end, and of what came of them where that is another item."""
_MARKS: Final = frozenset({"reasoning", "item_reference", "compaction"})
"""Items without a role that are not about calls."""
_INSTRUCTIONS: Final = "# AGENTS.md instructions"
"""With these words the instructions of a project begin, which are told as if by the user."""


def _item(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Path] | None:
    """Return the Responses item of a record and its path, if it has one.

    A message may leave its `type` out: requests to the Responses API mostly do.
    """
    payload = record.get("payload")
    if record.get("type") == "response_item" and isinstance(payload, Mapping):
        return payload, ("payload",)
    if "type" in record:
        is_item = has_type(record, _ITEMS) or str(record["type"]).endswith(_ENDINGS)
    else:
        is_item = "role" in record
    return (record, ()) if is_item and "payload" not in record else None


def _marks(record: Mapping[str, Any]) -> bool:
    if "type" not in record:
        return False
    return (
        has_type(record, ("response_item", "session_meta"))
        and isinstance(record.get("payload"), Mapping)
    ) or ("role" not in record and _is_alone(str(record["type"])))


def _is_alone(kind: str) -> bool:
    """Tell whether *kind* is that of an item which no other shape knows."""
    return kind in _MARKS or kind.endswith(_ENDINGS) or kind.startswith("mcp_")


def _read(record: Mapping[str, Any], place: str) -> Reading:
    found = _item(record)
    if found is None:
        return Reading(role=str(record.get("type", "")), is_turn=False)
    item, path = found
    kind = item.get("type")
    call_id = str(item.get("call_id") or item.get("id") or "")
    if has_type(item, _CALLS):
        arguments = item.get("arguments", item.get("input", item.get("action", "")))
        opaque = f"{item.get('name', kind)} {dump(arguments)}"
        reading = Reading(role="assistant")
        reading.opaque.append(opaque)
        reading.calls.append(call_id)
        return reading
    if has_type(item, _RESULTS):
        reading = Reading(role="tool")
        _read_output(reading, item.get("output"), (*path, "output"), place, call_id)
        return reading
    if kind == "reasoning":
        reading = Reading(role="assistant")
        reading.thinking += [dump(item[name]) for name in ("summary", "content") if item.get(name)]
        reading.binds_next = True
        return reading
    if kind != "message" and "role" not in item:
        return _read_unknown(item, path)
    reading = Reading(role=check_role(item.get("role"), item, place))
    read_content(reading, item.get("content"), (*path, "content"), place)
    return reading


def _read_unknown(item: Mapping[str, Any], path: Path) -> Reading:
    """Read an item of a kind that we do not know: a call of the provider's own is counted.

    One with a `call_id` is answered by another item, and neither goes without the other.
    """
    kind = str(item.get("type"))
    if not kind.endswith(_ENDINGS):
        return Reading(role=kind, is_turn=False)
    is_call = kind.endswith("_call")
    reading = Reading(role="assistant" if is_call else "tool")
    reading.opaque += [dump(item[name]) for name in _SAID if item.get(name)]
    call_id = item.get("call_id")
    if isinstance(call_id, str):
        if is_call:
            reading.calls.append(call_id)
        else:
            add_answer(reading, (*path, "output"), call_id)
    return reading


def _read_output(reading: Reading, output: object, path: Path, place: str, call_id: str) -> None:
    """Read a tool's answer: a string, blocks, or a mapping that holds the string."""
    if not isinstance(output, Mapping):
        read_content(reading, output, path, place, call_id=call_id)
    elif isinstance(output.get("content"), str):
        add_text(reading, output["content"], (*path, "content"), place, call_id=call_id)
    if not reading.parts:
        add_answer(reading, path, call_id)


def _write(records: Sequence[Mapping[str, Any]], text: str) -> dict[str, Any]:
    record = records[0]
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }
    if "payload" not in record:
        return item
    head = {name: value for name, value in record.items() if name in ("timestamp", "type")}
    return {**head, "payload": item}


def _turn_path(record: Mapping[str, Any]) -> Path:
    found = _item(record)
    return () if found is None else found[1]


def _is_injected(message: Message) -> bool:
    """Tell whether it is a note of Codex on the project, the machine or the course of events."""
    return is_tagged(message) or any(p.text.startswith(_INSTRUCTIONS) for p in message.parts[:1])


FORMAT: Final[Format] = Format(
    name="codex",
    marks=_marks,
    read=_read,
    write=_write,
    turn_path=_turn_path,
    is_injected=_is_injected,
)
