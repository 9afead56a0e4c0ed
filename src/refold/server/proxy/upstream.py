"""Connections to the providers: one pool for all, with nothing added to what a client sends."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property
from typing import Final

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from refold.server.proxy.answering import MAX_READ_BYTES, read_object
from refold.server.proxy.apis.base import Api, Provider, Usage
from refold.server.proxy.client_request import ClientRequest
from refold.server.proxy.entrance import for_upstream
from refold.server.proxy.settings import Settings

_CONNECT_SECONDS: Final = 10.0
"""Connect timeout: after that the provider counts as down, and the client may try another."""
_MAX_CONNECTIONS: Final = 4_096
"""More connections than the agents of one machine open; bounds the file descriptors."""
_AUTOMATIC: Final = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
MAX_FIELD_BYTES: Final = 65_536
"""The longest line of a request or header, both ways."""


class Upstream:
    """The providers that requests are sent to."""

    def __init__(self, settings: Settings) -> None:
        self._urls: Mapping[Provider, str] = {
            "anthropic": settings.anthropic_url.rstrip("/"),
            "openai": settings.openai_url.rstrip("/"),
            "gemini": settings.gemini_url.rstrip("/"),
        }
        self._silence_seconds = settings.upstream_seconds

    @cached_property
    def client(self) -> aiohttp.ClientSession:
        """The pool of connections; made on first use, when the event loop runs."""
        return aiohttp.ClientSession(
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(limit=_MAX_CONNECTIONS),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=_CONNECT_SECONDS, sock_read=self._silence_seconds
            ),
            skip_auto_headers=_AUTOMATIC,
            max_line_size=MAX_FIELD_BYTES,
            max_field_size=MAX_FIELD_BYTES,
            read_bufsize=1 << 18,
        )

    def url_of(self, api: Api | None, path: str, headers: Mapping[str, str]) -> URL:
        """Return where a request to *path* goes: by its API, or else by the kind of its key."""
        provider: Provider = "openai"
        if api is not None:
            provider = api.provider
        elif "anthropic-version" in headers or "x-api-key" in headers:
            provider = "anthropic"
        elif "x-goog-api-key" in headers or path.startswith("/v1beta"):
            provider = "gemini"
        return URL(self._urls[provider] + path, encoded=True)

    async def send(
        self, method: str, url: URL, headers: CIMultiDict[str], body: object
    ) -> aiohttp.ClientResponse:
        """Send a request, and return as soon as the headers of the answer are there."""
        return await self.client.request(
            method, url, headers=headers, data=body, allow_redirects=False
        )

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()


_CREATE: Final = "response.create"


class SocketRequests:
    """The requests on one WebSocket, one after the other, as Codex may send them for responses.

    A message that continues an earlier response has only what is new; it passes unchanged.
    Retrieval calls are not answered here, so folding is lossless.
    """

    def __init__(self, opened_by: ClientRequest | None, settings: Settings) -> None:
        """*opened_by* is `None` if the API of the request is not known: then nothing is folded."""
        self._opened_by = opened_by
        self._under_way: ClientRequest | None = None
        self._seconds = settings.fold_ms / 1000

    async def fold(self, text: str) -> str:
        """Return what to send for a message of the client."""
        if self._opened_by is None or f'"{_CREATE}"' not in text:
            return text
        body = text.encode()
        data = read_object(body)
        if data is None or data.get("type") != _CREATE or data.get("previous_response_id"):
            return text
        request = self._opened_by.again()
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
