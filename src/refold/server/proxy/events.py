"""Server-sent events: cut from a stream as they come, byte for byte, and read where need be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

_END: Final = re.compile(rb"\r?\n\r?\n")
MAX_EVENT_BYTES: Final = 64 << 20
"""An event that does not end after so much is no event: what there is of it is handed on."""


class EventSplitter:
    """Cuts a stream into events; joined again they are the stream."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the events that *chunk* completes, each with the blank line that ends it."""
        seen = max(0, len(self._rest) - 3)  # the end of an event may be cut in two
        self._rest += chunk
        if len(self._rest) > MAX_EVENT_BYTES:
            return [self.close()]
        events: list[bytes] = []
        start = 0
        for end in _END.finditer(self._rest, seen):
            events.append(bytes(self._rest[start : end.end()]))
            start = end.end()
        if start:
            del self._rest[:start]
        return events

    def close(self) -> bytes:
        """Return what is left: an event that was cut off, or nothing."""
        rest = bytes(self._rest)
        self._rest.clear()
        return rest


def read_event(event: bytes) -> dict[str, Any] | None:
    """Return the object that an event carries; `None` if it carries none, such as `[DONE]`."""
    lines = event.splitlines()
    data = b"\n".join(line[5:].lstrip() for line in lines if line.startswith(b"data:"))
    return read_object(data)


def read_object(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object in *data*; `None` if there is none, or only a part of one."""
    if not data.lstrip().startswith(b"{"):
        return None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def write_event(data: object, name: str = "") -> bytes:
    """Spell an event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


def read_events(events: Iterable[bytes]) -> list[dict[str, Any]]:
    """Return the objects of all *events* that carry one."""
    return [found for found in map(read_event, events) if found is not None]
