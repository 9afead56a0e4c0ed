"""Answers on their way to the client, and retrieval calls that are answered on the way.

A model that is offered the retrieval tool may call it. The client does not know that tool, so its
calls are held back and answered from the store, and the model is asked to go on: to the client all
of it is one answer. These rounds are recorded and inserted into later requests where they belong,
so that the provider sees one conversation that only grows.
"""

from __future__ import annotations

import asyncio
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
"""The longest answer in one piece, line of a stream, or packed answer whose usage is read."""
_MAX_UNPACKED: Final = 16 << 20
"""The longest packed answer whose usage is read, unpacked."""
_STEP: Final = 1 << 16
"""How much is unpacked at once."""
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

        *enter* records the rounds before the client has the end of the answer, and can go on.
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
        content = await self._read(response)
        shown: list[Any] = []
        while _TOOL_NAME in content and (answer := read_object(content)) is not None:
            turn = self._api.read_answer(answer)
            if not turn.calls:
                break
            following = await self._go_on(turn, len(turn.shown))
            if following is None:
                return json.dumps(self._api.join(shown, answer)).encode()
            shown += turn.shown
            content = await self._read(following)
        answer = read_object(content) if shown else None
        return content if answer is None else json.dumps(self._api.join(shown, answer)).encode()

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        meter = self._meter(response)
        async with response:
            content = await response.read()
        meter.feed(content)
        return content

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
        """Yield an answer of any number of rounds."""
        shown: list[Any] = []
        following: aiohttp.ClientResponse | None = response
        while following is not None:
            meter = self._meter(following)
            this = _Streamed(self._api, meter, shown, self.names[0] if self.rounds else None)
            async with following:
                async for chunk in following.content.iter_any():
                    for piece in this.take(chunk):
                        yield piece
            following = None
            if this.name:
                self.names = self.names[0] or this.name, this.name
            if this.held:
                turn = self._api.read_stream(read_events([*this.passed, *this.held]))
                seen = self._api.read_stream(read_events(this.passed)).shown
                if turn.calls:
                    following = await self._go_on(turn, len(seen))
                if following is None:
                    for piece in this.release():
                        yield piece
                shown += seen
            elif rest := this.rest():
                yield rest

    def _meter(self, response: aiohttp.ClientResponse) -> Meter:
        meter = Meter(self._api, response.headers)
        self.meters.append(meter)
        return meter

    async def _go_on(self, turn: Turn, shown: int) -> aiohttp.ClientResponse | None:
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
        self.rounds.append(Round(shown, wires))
        return response


class _Streamed:
    """The events of one round: passed on until a retrieval call begins, held back from there on."""

    def __init__(self, api: Api, meter: Meter, shown: Sequence[Any], known: str | None) -> None:
        """*known* is the client's id of the answer; `None` in the first round."""
        self._api = api
        self._meter = meter
        self._shown = list(shown)
        self._known = known
        self.name = ""
        """The provider's id of this round."""
        self._splitter = EventSplitter()
        self.passed: list[bytes] = []
        self.held: list[bytes] = []

    def take(self, chunk: bytes) -> list[bytes]:
        """Return the events of *chunk* that can be passed on now."""
        pieces: list[bytes] = []
        for event in self._splitter.feed(chunk):
            self._meter.see(event)
            if self.held or self._is_retrieval(event):
                self.held.append(event)
                continue
            self.passed.append(event)
            pieces += self._pass_on(event)
        return pieces

    def rest(self) -> bytes:
        """Return the rest of a stream that was cut off or is malformed."""
        return self._splitter.close()

    def release(self) -> list[bytes]:
        """Return what was held back, without retrieval calls."""
        events = read_events([*self.passed, *self.held])
        kept = self._api.without_retrievals(events)[len(read_events(self.passed)) :]
        pieces = [piece for event in kept for piece in self._renumber(event)]
        return [*pieces, *(event for event in self.held if read_event(event) is None)]

    def _is_retrieval(self, event: bytes) -> bool:
        if _TOOL_NAME not in event:
            return False
        data = read_event(event)
        return data is not None and self._api.starts_retrieval(data)

    def _pass_on(self, event: bytes) -> list[bytes]:
        if self._known is None and len(self.passed) > 1:
            return [event]  # only the first event has the id
        data = read_event(event)
        if data is not None:
            self.name = self.name or self._api.response_id(data)
        return [event] if self._known is None or data is None else self._renumber(data)

    def _renumber(self, data: Wire) -> list[bytes]:
        shifted: Wire | None = data
        if self._known is not None:
            shifted = self._api.shift(data, self._shown, self._known)
        return [] if shifted is None else [write_event(shifted, str(shifted.get("type", "")))]


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
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def write_event(data: object, name: str = "") -> bytes:
    """Serialize an event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


def read_events(events: Iterable[bytes]) -> list[dict[str, Any]]:
    """Return the JSON objects of all *events* that have one."""
    return [found for found in map(read_event, events) if found is not None]


class Meter:
    """Reads the token usage of one answer, as far as it can be read within bounds."""

    def __init__(self, api: Api, headers: Mapping[str, str]) -> None:
        """*headers* are those of the answer."""
        encoding = headers.get("content-encoding", "")
        self._api = api
        self._is_stream = "event-stream" in headers.get("content-type", "")
        self._is_packed = encoding in ("gzip", "deflate", "x-gzip")
        self._is_readable = self._is_packed or encoding in ("", "identity")
        self._rest = bytearray()
        """The answer so far; of a stream, the line that has begun."""
        self.usage = Usage()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        if not self._is_readable:
            return
        if self._is_stream and not self._is_packed:
            self._take_lines(chunk)
        else:
            self._rest += chunk
        if len(self._rest) > MAX_READ_BYTES:
            # Of a stream, a line that is too long; the next one is readable again.
            self._is_readable = self._is_stream and not self._is_packed
            self._rest.clear()

    def see(self, event: bytes) -> None:
        """Read an event that was split off elsewhere."""
        if len(event) <= MAX_READ_BYTES and _SAYS_USAGE.search(event):
            self._update(read_event(event))

    async def close(self) -> Usage:
        """Return what is known at the end; what is packed is unpacked beside the event loop."""
        if self._is_packed:
            await asyncio.to_thread(self._unpack)
        else:
            self._end()
        return self.usage

    def _unpack(self) -> None:
        """Read a packed answer in steps, up to a limit."""
        packed, self._rest, unpack = bytes(self._rest), bytearray(), zlib.decompressobj(_ANY_WINDOW)
        for _ in range(0, _MAX_UNPACKED, _STEP):
            try:
                piece = unpack.decompress(packed, _STEP)
            except zlib.error:
                return
            if not piece:
                break
            packed = unpack.unconsumed_tail
            if self._is_stream:
                self._take_lines(piece)
            else:
                self._rest += piece
            if len(self._rest) > MAX_READ_BYTES:
                return
        else:
            return
        self._end()

    def _take_lines(self, chunk: bytes) -> None:
        """Read the lines of a stream that *chunk* completes: the JSON of an event is on one."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._rest += chunk
            return
        lines = bytes(self._rest) + chunk[:end]
        self._rest[:] = chunk[end:]
        # The first says what was read, the last what was written; those between say no more.
        places = [match.start() for match in _SAYS_USAGE.finditer(lines)]
        for place in dict.fromkeys(places[:1] + places[-1:]):
            self.see(lines[lines.rfind(b"\n", 0, place) + 1 : lines.find(b"\n", place)])

    def _end(self) -> None:
        """Read what is left at the end: the last line of a stream, or the whole answer."""
        if _SAYS_USAGE.search(self._rest):
            rest = bytes(self._rest)
            self._update(read_event(rest) if self._is_stream else read_object(rest))

    def _update(self, data: Wire | None) -> None:
        if data is not None:
            self.usage = self._api.read_usage(data, self.usage)
