"""Rollout files of Codex: one record a line, a Responses item under `payload`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.messages.formats.base import Format, Reading, has_type
from refold.messages.formats.openai_responses import is_injected, is_item, read_item
from refold.messages.wire import Path


def _item(record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Path] | None:
    """Return the Responses item of a record and its path, if it has one; before, it was bare."""
    payload = record.get("payload")
    if record.get("type") == "response_item" and isinstance(payload, Mapping):
        return payload, ("payload",)
    return (record, ()) if "payload" not in record and is_item(record) else None


def _matches(record: Mapping[str, Any]) -> bool:
    return has_type(record, ("response_item", "session_meta")) and isinstance(
        record.get("payload"), Mapping
    )


def _read(record: Mapping[str, Any], place: str) -> Reading:
    found = _item(record)
    if found is None:
        return Reading(role=str(record.get("type", "")), is_turn=False)
    item, path = found
    return read_item(item, path, place)


def _write(records: Sequence[Mapping[str, Any]], text: str, role: str) -> dict[str, Any]:
    record = records[0]
    kind = "output_text" if role == "assistant" else "input_text"
    item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    if "payload" not in record:
        return item
    head = {name: value for name, value in record.items() if name in ("timestamp", "type")}
    return {**head, "payload": item}


def _turn_path(record: Mapping[str, Any]) -> Path:
    found = _item(record)
    return () if found is None else found[1]


FORMAT: Final[Format] = Format(
    name="codex",
    keys=frozenset({"payload"}),
    matches=_matches,
    read=_read,
    write=_write,
    is_lasting=True,
    turn_path=_turn_path,
    is_injected=is_injected,
)
