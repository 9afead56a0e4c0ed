"""Reads that are out of date: the file was written afterwards, and the write succeeded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from refold.model.message import Message
from refold.planner.items import Shape, find_items, shape_of

# What a tool is called says what it does; whether it was done, its result says.
_WRITES: Final = re.compile(r"(?i)write|edit|replace|create|patch|insert|update|append|save")
_READS: Final = re.compile(r"(?i)read|view|open|cat|get|show|fetch")
_FAILED: Final = re.compile(
    r"(?i)\b(?:error|failed|failure|exception|denied|not found|no such|invalid|unable|could not)\b"
)
_SEEN: Final = 300
"""How much of a result is looked at to tell whether it failed."""


def find_superseded(messages: Sequence[Message]) -> frozenset[str]:
    """Return the calls whose results show a file as it is no longer."""
    results = {
        part.call_id: part.text for message in messages for part in message.parts if part.call_id
    }
    written: dict[str, int] = {}
    reads: list[tuple[int, str, frozenset[str]]] = []
    for place, (call, text) in enumerate(_calls(messages)):
        name, _, arguments = text.partition(" ")
        if call not in results:
            continue
        paths = _paths(arguments)
        if _WRITES.search(name):
            if not _FAILED.search(results[call][:_SEEN]):
                written.update(dict.fromkeys(paths, place))
        elif _READS.search(name):
            reads.append((place, call, paths))
    return frozenset(
        call for place, call, paths in reads if any(written.get(p, -1) > place for p in paths)
    )


def _calls(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    for message in messages:
        if len(message.calls) == len(message.opaque):
            yield from zip(message.calls, message.opaque, strict=True)


def _paths(arguments: str) -> frozenset[str]:
    """Return what looks like a file in the beginning of a call's arguments."""
    shapes = (Shape.PATH, Shape.DOTTED)
    return frozenset(item for item in find_items(arguments[:_SEEN]) if shape_of(item) in shapes)
