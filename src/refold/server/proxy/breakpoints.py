"""Marks of Anthropic's prompt cache: they move from request to request, and are no part of it.

A client puts `cache_control` on the last blocks it sends, and on other ones next time. So messages
are compared and folded without, and the marks are put back where the client has them now.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from refold.server.proxy.apis.base import Wire

_MARK: Final = "cache_control"


def without_marks(messages: Sequence[Any]) -> list[Any]:
    """Return *messages* without marks; those that have none are the same objects."""
    return [_without(message) for message in messages]


def _without(message: Any) -> Any:
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if not isinstance(content, list):
        return _unmark(message)
    unmarked = [_unmark(block) for block in content]
    is_same = all(new is old for new, old in zip(unmarked, content, strict=True))
    plain = _plain(content if is_same else unmarked)
    return _unmark(message) if plain is content else {**_unmark(message), "content": plain}


def _plain(content: list[Any]) -> Any:
    """Return one block of text as the text: to carry a mark, a client has to make it a block."""
    match content:
        case [{"type": "text", "text": str(text), **rest}] if not rest:
            return text
    return content


def _unmark(block: Any) -> Any:
    if not isinstance(block, dict) or _MARK not in block:
        return block
    return {key: value for key, value in block.items() if key != _MARK}


def with_marks(message: Wire, marked: Wire) -> Wire:
    """Return *message* with the marks that *marked*, another form of it, has in the same places."""
    content, theirs = message.get("content"), marked.get("content")
    own = {_MARK: marked[_MARK]} if _MARK in marked else {}
    if isinstance(content, str) and isinstance(theirs, list):
        content = [{"type": "text", "text": content}]
        message = {**message, "content": content}
    if not isinstance(content, list) or not isinstance(theirs, list):
        return {**message, **own}
    if len(content) != len(theirs):
        return {**message, **own}
    blocks = [
        {**block, _MARK: other[_MARK]} if isinstance(other, dict) and _MARK in other else block
        for block, other in zip(content, theirs, strict=True)
    ]
    return {**message, "content": blocks, **own}
