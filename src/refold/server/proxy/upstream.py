"""Connections to the providers: one pool for all, with nothing added to what a client sends.

Answers come back as they arrive.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from functools import cached_property
from typing import Final

import aiohttp
from aiohttp import web
from multidict import CIMultiDict
from yarl import URL

from refold.server.proxy.apis.base import Api, Provider
from refold.server.proxy.entrance import for_client
from refold.server.proxy.settings import Settings
from refold.server.proxy.stats import Stats

_CONNECT_SECONDS: Final = 10.0
"""Connect timeout: after that the provider counts as down, and the client may try another."""
_MAX_CONNECTIONS: Final = 4_096
"""More connections than the agents of one machine open; bounds the file descriptors."""
_AUTOMATIC: Final = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
MAX_FIELD_BYTES: Final = 65_536
"""The longest line of a request or header, both ways."""
_log: Final = logging.getLogger("refold.serve")


class Upstream:
    """The providers that requests are sent to."""

    def __init__(self, settings: Settings, stats: Stats) -> None:
        self._settings, self._stats = settings, stats
        self._urls: Mapping[Provider, str] = {
            "anthropic": settings.anthropic_url.rstrip("/"),
            "openai": settings.openai_url.rstrip("/"),
            "gemini": settings.gemini_url.rstrip("/"),
        }

    @cached_property
    def client(self) -> aiohttp.ClientSession:
        """The pool of connections; made on first use, when the event loop runs."""
        return aiohttp.ClientSession(
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(limit=_MAX_CONNECTIONS),
            timeout=aiohttp.ClientTimeout(
                total=None,
                sock_connect=_CONNECT_SECONDS,
                sock_read=self._settings.upstream_seconds,
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

    async def relay(
        self,
        request: web.BaseRequest,
        answer: aiohttp.ClientResponse,
        chunks: AsyncIterator[bytes],
        *,
        is_changed: bool = False,
    ) -> web.StreamResponse:
        """Relay an answer as it arrives; if it breaks off, so does the one to the client."""
        headers = for_client(answer.headers, is_changed=is_changed)
        response = web.StreamResponse(status=answer.status, reason=answer.reason, headers=headers)
        await response.prepare(request)
        try:
            async for chunk in chunks:
                async with asyncio.timeout(self._settings.client_seconds):
                    await response.write(chunk)
            await response.write_eof()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            self._stats.fault("client gone" if is_gone(request) else "stream cut off")
            _log.warning("a stream was cut off: %s", type(error).__name__)
            if request.transport is not None:
                request.transport.abort()
        return response

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()


def is_gone(request: web.BaseRequest) -> bool:
    """Return whether the client has hung up: then the provider is not to blame."""
    return request.transport is None or request.transport.is_closing()
