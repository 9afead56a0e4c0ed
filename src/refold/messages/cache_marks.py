"""Marks of caches on messages: clients put them on what they send last, elsewhere next time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from refold.messages.wire import Wire

MARK: Final = "cache_control"


def has_marks(message: Wire) -> bool:
    """Tell whether there are marks on *message* or on its blocks."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return MARK in message or any(isinstance(block, dict) and MARK in block for block in blocks)


def without_marks(messages: Sequence[Any]) -> list[Any]:
    """Return *messages* without cache marks; those that have none are the same objects.

    A client puts `cache_control` on the last blocks it sends, and on other ones next time. So
    messages are compared and folded without it, and the marks are put back where they are now.
    """
    return [_without_marks(message) for message in messages]


def _without_marks(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    match message.get("content"):
        case [{"type": "text", "text": str(text), **rest}] if rest.keys() <= {MARK}:
            # Only to carry a mark, a text has to be a block.
            return {**_unmark(message), "content": text}
        case list(content) if has_marks({"content": content}):
            return {**_unmark(message), "content": [_unmark(block) for block in content]}
    return _unmark(message)


def _unmark(block: Any) -> Any:
    if not isinstance(block, dict) or MARK not in block:
        return block
    return {key: value for key, value in block.items() if key != MARK}


def with_marks(message: Wire, marked: Wire) -> dict[str, Any]:
    """Return *message* with the marks that *marked*, another form of it, has at the same places."""
    fresh = dict(message)
    content, theirs = message.get("content"), marked.get("content")
    if isinstance(theirs, list):
        if isinstance(content, str):
            content = fresh["content"] = [{"type": "text", "text": content}]
        if isinstance(content, list) and len(content) == len(theirs):
            fresh["content"] = [
                {**block, MARK: other[MARK]} if isinstance(other, dict) and MARK in other else block
                for block, other in zip(content, theirs, strict=True)
            ]
    return fresh | ({MARK: marked[MARK]} if MARK in marked else {})
