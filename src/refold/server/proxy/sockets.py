"""WebSockets, as Codex may open them: relayed, and what is a request of its own is folded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import aiohttp
from aiohttp import web
from yarl import URL

from refold.server.proxy.answering import MAX_READ_BYTES, read_object
from refold.server.proxy.apis.base import Usage
from refold.server.proxy.client_request import ClientRequest
from refold.server.proxy.entrance import for_upstream
from refold.server.proxy.settings import Settings

_CREATE: Final = "response.create"


async def relay_socket(
    client: aiohttp.ClientSession,
    request: web.BaseRequest,
    url: URL,
    begin: Callable[[], ClientRequest] | None,
    settings: Settings,
) -> web.StreamResponse:
    """Relay the messages of a WebSocket until one side closes it or stops responding.

    Requests come one after the other, and each *begin*s one; `None` if the API is not known. A
    message that continues an earlier response has only what is new, and passes unchanged. Retrieval
    calls are not answered here, so folding is lossless.
    """
    under_way: list[ClientRequest] = []

    async def fold(text: str) -> str:
        data = read_object(text.encode()) if begin and f'"{_CREATE}"' in text else None
        if not begin or not data or data.get("type") != _CREATE or data.get("previous_response_id"):
            return text
        one = begin()
        folded = await one.fold(text.encode(), settings.fold_ms / 1000, is_lossless=True)
        under_way[:] = [one]
        return text if folded is None else folded.decode()

    async def count(text: str) -> str:
        if under_way and '"usage"' in text and len(text) <= MAX_READ_BYTES:
            usage = under_way[0].api.read_usage(read_object(text.encode()) or {}, Usage())
            if usage.prompt:
                under_way.pop().charge([usage])
        return text

    async def pass_on(source: Any, target: Any, read: Callable[[str], Awaitable[str]]) -> None:
        async for message in source:
            if message.type is aiohttp.WSMsgType.TEXT:
                await target.send_str(await read(message.data))
            elif message.type is aiohttp.WSMsgType.BINARY:
                await target.send_bytes(message.data)
        await target.close(code=source.close_code or 1000)

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
        ways = pass_on(socket, upstream, fold), pass_on(upstream, socket, count)
        both = [asyncio.ensure_future(way) for way in ways]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        return socket
