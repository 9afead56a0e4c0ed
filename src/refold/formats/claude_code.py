"""Session files of Claude Code: one JSON record a line, the turn under `message`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from refold.formats.base import Format, Reading, has_type, read_role
from refold.formats.content import read_content
from refold.model.wire import Path

_TURNS: Final = frozenset({"user", "assistant"})
_NOTES: Final = frozenset({"summary", "file-history-snapshot"})
"""Records with which a file may begin before anybody has said anything."""


def _marks(record: Mapping[str, Any]) -> bool:
    if "type" not in record:
        return False
    if has_type(record, _NOTES) and ("leafUuid" in record or "messageId" in record):
        return True
    turn = record.get("message")
    return (
        has_type(record, _TURNS)
        and isinstance(turn, Mapping)
        and "role" in turn
        and ("uuid" in record or "sessionId" in record)
    )


def _turn_path(record: Mapping[str, Any]) -> Path:
    is_turn = has_type(record, _TURNS) and isinstance(record.get("message"), Mapping)
    return ("message",) if is_turn else ()


def _read(record: Mapping[str, Any], place: str) -> Reading:
    if not _turn_path(record):
        return Reading(role=str(record.get("type", "")), is_turn=False)
    turn = record["message"]
    reading = Reading(role=read_role(turn, f"{place}.message"))
    read_content(reading, turn.get("content"), ("message", "content"), place)
    return reading


FORMAT: Final[Format] = Format(name="claude-code", marks=_marks, read=_read, turn_path=_turn_path)
"""Has no `write`: every record names the one before it, so none may go in a roll-up."""
