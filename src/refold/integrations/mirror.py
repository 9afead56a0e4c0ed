"""Messages of frameworks that refold has no format for, mirrored one for one as content blocks.

Each piece of a message becomes a block that notes its place. What became of it is read off the
blocks that come back: a piece whose text has changed is written anew, one that is missing was left
out, and all others are the very objects that they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

FORMAT: Final = "anthropic"
"""The shape of the mirror: the one whose blocks can say all that is needed."""
_PLACE: Final = "place"
_ROLES: Final = {"tool": "user", "function": "user", "developer": "system"}


class Change(NamedTuple):
    """What becomes of one piece: another text in its place."""

    place: int | None
    """Where the piece stands; `None` for a note in front of all others."""
    text: str | None
    """Its new text; `None` if it stays as it is."""


def text(place: int, said: str) -> dict[str, Any]:
    """Mirror what is said."""
    return {"type": "text", "text": said, _PLACE: place}


def thought(place: int, said: str) -> dict[str, Any]:
    """Mirror what a model thought."""
    return {"type": "thinking", "thinking": said, _PLACE: place}


def call(place: int, id_: str, name: str, arguments: object) -> dict[str, Any]:
    """Mirror a call of a tool."""
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments, _PLACE: place}


def result(place: int, call_id: str, said: str) -> dict[str, Any]:
    """Mirror what a tool returned."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": said, _PLACE: place}


def other(place: int, piece: object) -> dict[str, Any]:
    """Mirror what is neither: it is counted, and stays."""
    return {"type": "other", "said": str(piece), _PLACE: place}


def message(role: str, blocks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Mirror a message."""
    return {"role": _ROLES.get(role, role), "content": list(blocks)}


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Say what became of the pieces of a message, in order, but for those that were left out."""
    known = {block[_PLACE]: block for block in before["content"]}
    return [_change(known, block) for block in _blocks(after)]


def _blocks(mirrored: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = mirrored["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _change(known: Mapping[int, Any], block: Mapping[str, Any]) -> Change:
    place = block.get(_PLACE)
    if place is None:
        return Change(None, block["text"])
    if block == known[place]:
        return Change(place, None)
    return Change(place, block["content"] if block["type"] == "tool_result" else block["text"])
