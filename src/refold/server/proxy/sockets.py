"""WebSockets, as Codex may open them: relayed, and what is a request of its own is folded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import aiohttp
from aiohttp import web
from yarl import URL

from refold.server.proxy.answering import MAX_READ_BYTES, read_object
from refold.server.proxy.apis.base import Usage
from refold.server.proxy.client_request import ClientRequest
from refold.server.proxy.entrance import for_upstream
from refold.server.proxy.settings import Settings

_CREATE: Final = "response.create"


class SocketRequests:
    """The requests on one WebSocket, one after the other, as Codex may send them for responses.

    A message that continues an earlier response has only what is new; it passes unchanged.
    Retrieval calls are not answered here, so folding is lossless.
    """

    def __init__(self, begin: Callable[[], ClientRequest] | None, settings: Settings) -> None:
        """*begin* is `None` if the API of the request is not known: then nothing is folded."""
        self._begin = begin
        self._under_way: ClientRequest | None = None
        self._seconds = settings.fold_ms / 1000

    async def fold(self, text: str) -> str:
        """Return what to send for a message of the client."""
        if self._begin is None or f'"{_CREATE}"' not in text:
            return text
        body = text.encode()
        data = read_object(body)
        if data is None or data.get("type") != _CREATE or data.get("previous_response_id"):
            return text
        request = self._begin()
        folded = await request.fold(body, self._seconds, is_lossless=True)
        self._under_way = request
        return text if folded is None else folded.decode()

    def see(self, text: str) -> None:
        """Count the token usage in a message of the provider."""
        request = self._under_way
        if request is None or len(text) > MAX_READ_BYTES or '"usage"' not in text:
            return
        data = read_object(text.encode())
        usage = Usage() if data is None else request.api.read_usage(data, Usage())
        if usage.prompt:
            request.charge_usages([usage])
            self._under_way = None


async def relay_socket(
    client: aiohttp.ClientSession,
    request: web.BaseRequest,
    url: URL,
    requests: SocketRequests,
    settings: Settings,
) -> web.StreamResponse:
    """Relay the messages of a WebSocket until one side closes it or stops responding."""
    names = request.headers.get("sec-websocket-protocol", "").split(",")
    headers = for_upstream(request.headers)
    for name in [name for name in headers if name.lower().startswith("sec-websocket-")]:
        headers.popall(name, None)  # these are agreed on anew
    most = settings.max_body_mb << 20
    async with client.ws_connect(
        url,
        headers=headers,
        protocols=[name.strip() for name in names if name.strip()],
        max_msg_size=most,
        heartbeat=settings.upstream_seconds,
    ) as upstream:
        socket = web.WebSocketResponse(
            protocols=[upstream.protocol] if upstream.protocol else [],
            max_msg_size=most,
            heartbeat=settings.client_seconds,
        )
        await socket.prepare(request)

        async def to_upstream() -> None:
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    await upstream.send_str(await requests.fold(message.data))
                elif message.type is aiohttp.WSMsgType.BINARY:
                    await upstream.send_bytes(message.data)
            await upstream.close(code=socket.close_code or 1000)

        async def to_client() -> None:
            async for message in upstream:
                if message.type is aiohttp.WSMsgType.TEXT:
                    await socket.send_str(message.data)
                    requests.see(message.data)
                elif message.type is aiohttp.WSMsgType.BINARY:
                    await socket.send_bytes(message.data)
            await socket.close(code=upstream.close_code or 1000)

        both = [asyncio.ensure_future(to_upstream()), asyncio.ensure_future(to_client())]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        return socket
