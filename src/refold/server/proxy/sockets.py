"""WebSockets, as Codex may use them for responses: relayed both ways, and folded where it is whole.

A message that goes on from an earlier response has only what is new; it passes as it is. Calls for
originals are not answered here, so nothing is left out: results are only said shorter.
"""

from __future__ import annotations

import asyncio
from typing import Final

import aiohttp
from aiohttp import web
from yarl import URL

from refold.server.proxy.apis.base import Usage
from refold.server.proxy.events import read_object
from refold.server.proxy.fold_calls import FoldCalls
from refold.server.proxy.headers import for_upstream
from refold.server.proxy.request import Folding
from refold.server.proxy.settings import Settings
from refold.server.proxy.visit import Visit

_OWN_HEADERS: Final = (
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-extensions",
    "sec-websocket-protocol",
)
_CREATE: Final = "response.create"


class SocketTalk:
    """The requests on one WebSocket, one after the other, and what their answers say of tokens."""

    def __init__(self, visit: Visit | None, calls: FoldCalls, settings: Settings) -> None:
        """*visit* is what opened it; `None` if its API is not known, so that nothing is folded."""
        self._opened = visit
        self._visit: Visit | None = None
        self._calls = calls
        self._seconds = settings.fold_ms / 1000

    async def fold(self, text: str) -> str:
        """Return what to send for a message of the client."""
        if self._opened is None or f'"{_CREATE}"' not in text:
            return text
        body = text.encode()
        said = read_object(body)
        if said is None or said.get("type") != _CREATE or said.get("previous_response_id"):
            return text
        visit = self._opened.again()
        folded = await self._calls.fold(visit, body, self._seconds, Folding.LOSSLESS)
        visit.note(folded)
        self._visit = visit
        return text if folded.body is None else folded.body.decode()

    def see(self, text: str) -> None:
        """Count what a message of the provider says of tokens."""
        if self._visit is None or '"usage"' not in text:
            return
        said = read_object(text.encode())
        usage = Usage() if said is None else self._visit.api.usage_of(said, Usage())
        if usage.prompt:
            self._visit.charge([usage])
            self._visit = None


async def relay_socket(
    client: aiohttp.ClientSession,
    request: web.BaseRequest,
    url: URL,
    talk: SocketTalk,
    settings: Settings,
) -> web.StreamResponse:
    """Relay the messages of a WebSocket until one side closes it, or does not answer any more."""
    headers = for_upstream(request.headers)
    for name in _OWN_HEADERS:
        headers.popall(name, None)
    asked = request.headers.get("sec-websocket-protocol", "")
    protocols = [name.strip() for name in asked.split(",") if name.strip()]
    most = settings.max_body_mb << 20
    async with client.ws_connect(
        url,
        headers=headers,
        protocols=protocols,
        max_msg_size=most,
        heartbeat=settings.upstream_seconds,
    ) as upstream:
        chosen = [upstream.protocol] if upstream.protocol else []
        socket = web.WebSocketResponse(
            protocols=chosen, max_msg_size=most, heartbeat=settings.client_seconds
        )
        await socket.prepare(request)

        async def to_upstream() -> None:
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    await upstream.send_str(await talk.fold(message.data))
                elif message.type is aiohttp.WSMsgType.BINARY:
                    await upstream.send_bytes(message.data)
            await upstream.close(code=socket.close_code or 1000)

        async def to_client() -> None:
            async for message in upstream:
                if message.type is aiohttp.WSMsgType.TEXT:
                    await socket.send_str(message.data)
                    talk.see(message.data)
                elif message.type is aiohttp.WSMsgType.BINARY:
                    await socket.send_bytes(message.data)
            await socket.close(code=upstream.close_code or 1000)

        both = [asyncio.ensure_future(to_upstream()), asyncio.ensure_future(to_client())]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        return socket
