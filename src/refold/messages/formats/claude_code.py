"""Session files of Claude Code: one JSON record a line, the turn under `message`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.messages.formats.base import COMMAND_ARGUMENTS, Format, check_role, has_type, is_tagged
from refold.messages.formats.content import read_content
from refold.messages.message import Message
from refold.messages.wire import Path

_TURNS: Final = frozenset({"user", "assistant"})
_NOTES: Final = frozenset({"summary", "file-history-snapshot"})
"""Records with which a file may begin before the first turn."""
_KEPT: Final = tuple("isSidechain userType cwd sessionId version gitBranch uuid timestamp".split())
"""What a summary takes over from the last record that it stands for."""
_INJECTED: Final = ("isMeta", "isCompactSummary", "isSidechain")
"""Set on turns of the user's that no person typed: caveats, summaries, tasks for sub-agents."""


def _matches(record: Mapping[str, Any]) -> bool:
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


def _read(record: Mapping[str, Any], place: str) -> Message:
    if not _turn_path(record):
        return Message(role=str(record.get("type", "")), is_turn=False)
    turn = record["message"]
    reading = Message(role=check_role(turn.get("role"), turn, f"{place}.message"))
    read_content(reading, turn.get("content"), ("message", "content"), place)
    return reading


def _write(records: Sequence[Mapping[str, Any]], text: str, role: str) -> dict[str, Any]:
    """Write one record in the place of several: a link between what comes before and after them."""
    links = [record for record in records if "uuid" in record] or records
    first, last = links[0], links[-1]
    content = [{"type": "text", "text": text}]
    return {
        **{name: first[name] for name in ("parentUuid",) if name in first},
        **{name: last[name] for name in _KEPT if name in last},
        "type": role,
        "message": {"type": "message", "role": role, "content": content},
    }


def _ties(records: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Tie a record to the last one that names it as its parent, unless they are neighbours.

    Then whatever follows a stretch of records that no tie crosses names the last one of them.
    """
    place_of: dict[object, int] = {}
    ties: dict[int, int] = {}
    neighbour = -1
    for place, record in enumerate(records):
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        if not isinstance(uuid, str):
            continue
        named = place_of.get(parent, neighbour) if isinstance(parent, str) else neighbour
        if named != neighbour:
            ties[named] = place
        place_of[uuid] = neighbour = place
    return ties


def _is_injected(message: Message) -> bool:
    """Tell whether no person typed it; a command that was typed with arguments may be the task."""
    if any(message.wire.get(name) for name in _INJECTED):
        return True
    return is_tagged(message) and COMMAND_ARGUMENTS.search(message.parts[0].text) is None


FORMAT: Final[Format] = Format(
    name="claude-code",
    keys=frozenset({"uuid", "sessionId", "leafUuid", "messageId"}),
    claims=_matches,
    read=_read,
    write=_write,
    ties=_ties,
    is_lasting=True,
    turn_path=_turn_path,
    is_injected=_is_injected,
)
