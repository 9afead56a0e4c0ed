"""WebSockets, as Codex may use them for responses: relayed both ways, and folded where it is whole.

A message that goes on from an earlier response has only what is new; it passes as it is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Final

import aiohttp
from aiohttp import web
from yarl import URL

from refold.server.proxy.headers import for_upstream

FoldFrame = Callable[[web.BaseRequest, str, bytes], Awaitable[bytes]]
_MAX_FRAME: Final = 64 << 20
_OWN_HEADERS: Final = ("sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions")
_CREATE: Final = "response.create"


async def relay_socket(
    client: aiohttp.ClientSession, request: web.BaseRequest, url: URL, fold: FoldFrame
) -> web.StreamResponse:
    """Relay the messages of a WebSocket until one side closes it."""
    headers = for_upstream(request.headers)
    for name in (*_OWN_HEADERS, "sec-websocket-protocol"):
        headers.popall(name, None)
    asked = request.headers.get("sec-websocket-protocol", "")
    protocols = [name.strip() for name in asked.split(",") if name.strip()]
    async with client.ws_connect(
        url, headers=headers, protocols=protocols, max_msg_size=_MAX_FRAME, autoping=True
    ) as upstream:
        chosen = [upstream.protocol] if upstream.protocol else []
        socket = web.WebSocketResponse(protocols=chosen, max_msg_size=_MAX_FRAME)
        await socket.prepare(request)

        async def to_upstream() -> None:
            async for message in socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    await upstream.send_str(await _folded(request, url, message.data, fold))
                elif message.type is aiohttp.WSMsgType.BINARY:
                    await upstream.send_bytes(message.data)
            await upstream.close(code=socket.close_code or 1000)

        async def to_client() -> None:
            async for message in upstream:
                if message.type is aiohttp.WSMsgType.TEXT:
                    await socket.send_str(message.data)
                elif message.type is aiohttp.WSMsgType.BINARY:
                    await socket.send_bytes(message.data)
            await socket.close(code=upstream.close_code or 1000)

        both = [asyncio.ensure_future(to_upstream()), asyncio.ensure_future(to_client())]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
        await asyncio.gather(*both, return_exceptions=True)
        return socket


async def _folded(request: web.BaseRequest, url: URL, text: str, fold: FoldFrame) -> str:
    if f'"{_CREATE}"' not in text:
        return text
    try:
        said = json.loads(text)
    except ValueError:
        return text
    if not isinstance(said, dict) or said.get("type") != _CREATE:
        return text
    if said.get("previous_response_id"):
        return text
    return (await fold(request, url.path, text.encode())).decode()
