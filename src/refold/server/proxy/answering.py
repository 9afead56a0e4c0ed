"""Answers on their way to the client, and retrieval calls that are answered on the way.

A model that is offered the retrieval tool may call it. The client does not know that tool, so its
calls are held back and answered from the store, and the model is asked to go on: to the client all
of it is one answer. These rounds are recorded and inserted into later requests where they belong,
so that the provider sees one conversation that only grows.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import aiohttp

from refold.server.proxy.apis.base import (
    TOOL_NAME,
    Api,
    RetrievalCall,
    Round,
    Turn,
    Usage,
    Wire,
)

_MAX_ROUNDS: Final = 8
"""The most rounds of retrieval calls within one answer."""
_TOOL_NAME: Final = TOOL_NAME.encode()
_END: Final = re.compile(rb"\r?\n\r?\n")
MAX_EVENT_BYTES: Final = 64 << 20
"""The longest event; what is longer is passed on without being parsed."""
_SAYS_USAGE: Final = re.compile(rb'"usage(?:Metadata)?"\s{0,4}:\s{0,4}\{')
MAX_READ_BYTES: Final = 1 << 20
"""The longest answer in one piece, or line of a stream, whose usage is read."""
_MAX_UNPACKED: Final = 16 << 20
"""The longest packed answer whose usage is read, unpacked."""
_MAX_STEP: Final = 4 << 20
"""The most that the next bytes of it may swell to: a real answer packs ten times smaller."""
_ANY_WINDOW: Final = 47
"""Tells zlib to read both gzip and zlib streams."""

Retrieve = Callable[[RetrievalCall], Awaitable[str]]
Enter = Callable[["Answer"], Awaitable[None]]
Ask = Callable[[bytes], Awaitable[aiohttp.ClientResponse]]


class Answer:
    """One answer to a client, in as many rounds as the model needs."""

    def __init__(
        self, api: Api, body: bytes, *, ask: Ask, retrieve: Retrieve, enter: Enter
    ) -> None:
        """*body* is what was sent; *ask* sends another body, *retrieve* answers a call.

        *enter* records the rounds before the client has the end of the answer, and can continue.
        """
        self._api = api
        self._body: Wire = json.loads(body)
        self._ask = ask
        self._retrieve = retrieve
        self._enter = enter
        self.rounds: list[Round] = []
        self.names = ("", "")
        """The client's id of the answer, and the provider's id of its last round."""
        self.meters: list[Meter] = []
        self.failures = 0
        """Rounds that the provider did not answer."""

    async def whole(self, response: aiohttp.ClientResponse) -> bytes:
        """Return an answer that comes in one piece; byte for byte if no original was asked for."""
        visible: list[Any] = []
        while True:
            meter = self._meter(response)
            async with response:
                content = await response.read()
            meter.feed(content)
            answer = read_object(content) if visible or _TOOL_NAME in content else None
            if answer is None:
                return content
            turn = self._api.read_answer(answer)
            following = await self._go_on(turn, len(turn.visible)) if turn.calls else None
            if following is None:
                is_same = not turn.calls and not visible
                return content if is_same else json.dumps(self._api.join(visible, answer)).encode()
            visible += turn.visible
            response = following

    async def stream(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        """Yield an answer as it comes, without what belongs to retrieval calls."""
        last = b""
        async for piece in self._stream(response):
            if last:
                yield last
            last = piece if self.rounds else b""
            if not self.rounds:
                yield piece
        if last:
            await self._enter(self)
            yield last

    async def _stream(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        """Yield an answer of any number of rounds.

        Events are passed on until a retrieval call begins, and held back from there on.
        """
        visible: list[Any] = []
        following: aiohttp.ClientResponse | None = response
        while following is not None:
            splitter, passed, held = EventSplitter(), list[bytes](), list[bytes]()
            meter, name = self._meter(following), ""
            async with following:
                async for chunk in following.content.iter_any():
                    meter.feed(chunk)
                    for event in splitter.feed(chunk):
                        if held or self._is_retrieval(event):
                            held.append(event)
                            continue
                        passed.append(event)
                        # Of the first round, only the first event is read: it has the id.
                        data = read_event(event) if self.rounds or len(passed) == 1 else None
                        name = name or (self._api.response_id(data) if data else "")
                        pieces = self._shifted([data], visible) if self.rounds and data else [event]
                        for piece in pieces:
                            yield piece
            self.names = self.names[0] or name, name or self.names[1]
            following, rest = None, [splitter.close()]
            if held:
                following, rest = await self._fetch(passed, held, visible)
            for piece in rest:
                if piece:
                    yield piece

    async def _fetch(
        self, passed: Sequence[bytes], held: Sequence[bytes], visible: list[Any]
    ) -> tuple[aiohttp.ClientResponse | None, list[bytes]]:
        """Answer the calls in the events that were *held* back; return the next round.

        If there is none, return what the client gets of these events. What was *visible* grows.
        """
        before = read_events(passed)
        events = [*before, *read_events(held)]
        turn, seen = self._api.read_stream(events), self._api.read_stream(before).visible
        following = await self._go_on(turn, len(seen)) if turn.calls else None
        released: list[bytes] = []
        if following is None:
            kept = self._api.without_retrievals(events)[len(before) :]
            released = self._shifted(kept, visible)
            released += (event for event in held if read_event(event) is None)
        visible += seen
        return following, released

    def _is_retrieval(self, event: bytes) -> bool:
        if _TOOL_NAME not in event:
            return False
        data = read_event(event)
        return data is not None and self._api.starts_retrieval(data)

    def _shifted(self, events: Sequence[Wire], visible: Sequence[Any]) -> list[bytes]:
        """Return *events* as those of the one answer that the client sees."""
        shifted = [
            self._api.shift(event, visible, self.names[0]) if self.rounds else event
            for event in events
        ]
        return [
            write_event(event, str(event.get("type", ""))) for event in shifted if event is not None
        ]

    def _meter(self, response: aiohttp.ClientResponse) -> Meter:
        meter = Meter(self._api, response.headers)
        self.meters.append(meter)
        return meter

    async def _go_on(self, turn: Turn, visible: int) -> aiohttp.ClientResponse | None:
        """Answer the calls of *turn* and ask the model to continue.

        `None` if it is the client's turn, if there were too many rounds, or if the provider fails.
        """
        if turn.is_mixed or len(self.rounds) >= _MAX_ROUNDS:
            return None
        texts = [await self._retrieve(call) for call in turn.calls]
        wires = self._api.results(turn, texts)
        body = {**self._body, self._api.key: [*self._body[self._api.key], *wires]}
        try:
            response = await self._ask(json.dumps(body, separators=(",", ":")).encode())
        except (aiohttp.ClientError, TimeoutError):
            self.failures += 1
            return None
        if response.status != 200:
            self.failures += 1
            response.release()
            return None
        self._body = body
        self.rounds.append(Round(visible, wires))
        return response


class EventSplitter:
    """Splits a stream of server-sent events; joined again they are the stream."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the events that *chunk* completes, each with the blank line that ends it."""
        seen = max(0, len(self._rest) - 3)  # the end of an event may be split between chunks
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
        """Return the rest: an event that was cut off, or nothing."""
        rest = bytes(self._rest)
        self._rest.clear()
        return rest


def read_event(event: bytes) -> dict[str, Any] | None:
    """Return the JSON object in an event; `None` if there is none, as in `[DONE]`."""
    lines = event.splitlines()
    data = b"\n".join(line[5:].lstrip() for line in lines if line.startswith(b"data:"))
    return read_object(data)


def read_object(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object in *data*; `None` if it is anything else, or incomplete."""
    if not data.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def write_event(data: object, name: str = "") -> bytes:
    """Serialize an event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


def read_events(events: Iterable[bytes]) -> list[dict[str, Any]]:
    """Return the JSON objects of all *events* that have one."""
    return [data for data in map(read_event, events) if data is not None]


class Meter:
    """Reads the token usage of one answer, as far as it can be read within bounds."""

    def __init__(self, api: Api, headers: Mapping[str, str]) -> None:
        """*headers* are those of the answer."""
        encoding = headers.get("content-encoding", "")
        self._api = api
        self._is_stream = "event-stream" in headers.get("content-type", "")
        is_packed = encoding in ("gzip", "deflate", "x-gzip")
        self._unpacker = zlib.decompressobj(_ANY_WINDOW) if is_packed else None
        self._is_readable = is_packed or encoding in ("", "identity")
        self._left = _MAX_UNPACKED
        self._rest = bytearray()
        """The answer so far; of a stream, the line that has begun."""
        self.usage = Usage()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        if self._unpacker is not None and self._is_readable:
            chunk = self._unpack(self._unpacker, chunk)
        if not self._is_readable:
            return
        end = chunk.rfind(b"\n") + 1 if self._is_stream else 0
        if end:
            self._read_lines(bytes(self._rest) + chunk[:end])
            self._rest.clear()
        self._rest += chunk[end:]
        if len(self._rest) > MAX_READ_BYTES:
            self._is_readable = self._is_stream  # after a line that is too long, the next one is
            self._rest.clear()

    def close(self) -> Usage:
        """Return what is known at the end."""
        if self._is_readable and _SAYS_USAGE.search(self._rest):
            rest = bytes(self._rest)
            self._update(read_event(rest) if self._is_stream else read_object(rest))
        return self.usage

    def _unpack(self, unpacker: Any, chunk: bytes) -> bytes:
        """Unpack the next bytes; nothing is read any more of what swells beyond all bounds."""
        try:
            chunk = unpacker.decompress(chunk, _MAX_STEP)
        except zlib.error:
            self._is_readable = False
        self._left -= len(chunk)
        if unpacker.unconsumed_tail or self._left < 0:
            self._is_readable = False
        return chunk

    def _read_lines(self, lines: bytes) -> None:
        """Read the usage in whole lines of a stream: the JSON of an event is on one."""
        # The first says what was read, the last what was written; those between say no more.
        places = [match.start() for match in _SAYS_USAGE.finditer(lines)]
        for place in dict.fromkeys(places[:1] + places[-1:]):
            line = lines[lines.rfind(b"\n", 0, place) + 1 : lines.find(b"\n", place)]
            if len(line) <= MAX_READ_BYTES:
                self._update(read_event(line))

    def _update(self, data: Wire | None) -> None:
        if data is not None:
            self.usage = self._api.read_usage(data, self.usage)
