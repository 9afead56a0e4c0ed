"""Messages of frameworks that refold has no format for, mirrored one for one as content blocks.

Each piece of a message becomes a block that records its place. The blocks that come back say what
became of it: a piece whose text has changed is written anew, one that is missing was left out, and
all others are the very same objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

P = TypeVar("P")
"""A piece of a message, as a framework has it."""

FORMAT: Final = "anthropic"
"""The format of the mirror: its blocks can express all that is needed."""
_PLACE: Final = "place"
_ROLES: Final = {"tool": "user", "function": "user", "developer": "system"}


def text(place: int, said: str) -> dict[str, Any]:
    """Mirror a text."""
    return {"type": "text", "text": said, _PLACE: place}


def thought(place: int, said: str) -> dict[str, Any]:
    """Mirror thinking."""
    return {"type": "thinking", "thinking": said, _PLACE: place}


def call(place: int, id_: str, name: str, arguments: object) -> dict[str, Any]:
    """Mirror a tool call."""
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments, _PLACE: place}


def result(place: int, call_id: str, said: str) -> dict[str, Any]:
    """Mirror a tool result."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": said, _PLACE: place}


def other(place: int, piece: object) -> dict[str, Any]:
    """Mirror anything else: it is counted, and never changed."""
    return {"type": "other", "said": str(piece), _PLACE: place}


def message(role: str, blocks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Mirror a message."""
    return {"role": _ROLES.get(role, role), "content": list(blocks)}


def rewrite(
    pieces: Sequence[P],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    new_text: Callable[[str], P],
    new_result: Callable[[P, str], P],
) -> list[P]:
    """Return what became of the *pieces* of a message, in order; those left out are missing.

    *new_text* makes a piece of text, which may also be a note in front of all others. *new_result*
    makes a result with another text out of the one that there was.
    """
    known = {block[_PLACE]: block for block in before["content"]}
    content = after["content"]
    blocks: Any = [{"type": "text", "text": content}] if isinstance(content, str) else content
    rewritten: list[P] = []
    for block in blocks:
        place = block.get(_PLACE)
        if place is not None and block == known[place]:
            rewritten.append(pieces[place])
        elif block["type"] == "tool_result":
            rewritten.append(new_result(pieces[place], block["content"]))
        else:
            rewritten.append(new_text(block["text"]))
    return rewritten
