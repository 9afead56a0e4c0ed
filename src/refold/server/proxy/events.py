"""Server-sent events: cut from a stream as they come, byte for byte, and read for tokens used."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from refold.server.proxy.apis.base import Api, Usage

_END: Final = re.compile(rb"\r?\n\r?\n")
MAX_EVENT_BYTES: Final = 64 << 20
"""The longest event; what is longer is passed on without being parsed."""
_SAYS_USAGE: Final = re.compile(rb'"usage(?:Metadata)?"\s{0,4}:\s{0,4}\{')
_MAX_BYTES: Final = 16 << 20
"""Of an answer in one piece, so much is kept to be read; of a longer one the usage is not known."""
_ANY_WINDOW: Final = 47
"""Tells zlib to read both gzip and zlib streams."""


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


class Meter:
    """Watches one answer; what it cannot read it lets pass."""

    def __init__(self, api: Api, headers: Mapping[str, str]) -> None:
        """*headers* are those of the answer."""
        encoding = headers.get("content-encoding", "")
        is_stream = "event-stream" in headers.get("content-type", "")
        self._api = api
        self._splitter = EventSplitter() if is_stream else None
        is_packed = encoding in ("gzip", "deflate", "x-gzip")
        self._unpack = zlib.decompressobj(_ANY_WINDOW) if is_packed else None
        self._is_readable = is_packed or encoding in ("", "identity")
        self._whole = bytearray()
        self.usage = Usage()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        if not self._is_readable:
            return
        if self._unpack is not None:
            try:
                chunk = self._unpack.decompress(chunk)
            except zlib.error:
                self._is_readable = False
                return
        if self._splitter is not None:
            for event in self._splitter.feed(chunk):
                self.see(event)
        elif len(self._whole) <= _MAX_BYTES:
            self._whole += chunk

    def see(self, event: bytes) -> None:
        """Read an event that was cut from the stream elsewhere."""
        if _SAYS_USAGE.search(event):
            said = read_event(event)
            if said is not None:
                self.usage = self._api.usage_of(said, self.usage)

    def close(self) -> Usage:
        """Return what is known at the end."""
        if self._whole and len(self._whole) <= _MAX_BYTES and _SAYS_USAGE.search(self._whole):
            said = read_object(bytes(self._whole))
            if said is not None:
                self.usage = self._api.usage_of(said, self.usage)
        return self.usage
