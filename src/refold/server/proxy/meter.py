"""Reads from an answer, as it passes, what its provider says of tokens."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Final

from refold.server.proxy.apis.base import Api, Usage
from refold.server.proxy.events import EventSplitter, read_event, read_object

_SAYS_USAGE: Final = re.compile(rb'"usage(?:Metadata)?"\s{0,4}:\s{0,4}\{')
_MAX_BYTES: Final = 16 << 20
"""Of an answer in one piece, so much is kept to be read; of a longer one the usage is not known."""
_ANY_WINDOW: Final = 47
"""Tells zlib to read both gzip and zlib streams."""


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
        """Take an event that somebody else has cut out."""
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
