"""Connections to the providers: one pool for all, and nothing added to what a client sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from refold.server.proxy.apis.base import Api, Provider
from refold.server.proxy.settings import Settings

_CONNECT_SECONDS: Final = 10.0
"""A provider that does not take a connection by then is down, and a client may try another."""
_MAX_CONNECTIONS: Final = 4_096
"""Above what one machine's agents open; a limit keeps files from running out."""
_AUTOMATIC: Final = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")
MAX_FIELD_BYTES: Final = 65_536
"""The longest line of a request or header, both ways."""


class Upstream:
    """Where requests go."""

    def __init__(self, settings: Settings) -> None:
        self._urls: Mapping[Provider, str] = {
            "anthropic": settings.anthropic_url.rstrip("/"),
            "openai": settings.openai_url.rstrip("/"),
            "gemini": settings.gemini_url.rstrip("/"),
        }
        self.client = aiohttp.ClientSession(
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            connector=aiohttp.TCPConnector(limit=_MAX_CONNECTIONS),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=_CONNECT_SECONDS, sock_read=settings.upstream_seconds
            ),
            skip_auto_headers=_AUTOMATIC,
            max_line_size=MAX_FIELD_BYTES,
            max_field_size=MAX_FIELD_BYTES,
            read_bufsize=1 << 18,
        )

    def url_of(self, api: Api | None, path: str, headers: Mapping[str, str]) -> URL:
        """Return where a request to *path* goes: by its API, or else by whose key it has."""
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
        """Send a request, and return as soon as the head of the answer is there."""
        return await self.client.request(
            method, url, headers=headers, data=body, allow_redirects=False
        )

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()
