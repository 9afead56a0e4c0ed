"""The HTTP server below the proxy: of a request that it cannot read, no word goes anywhere.

aiohttp logs such a request with the line that is wrong, and quotes it in the answer. There may be a
key in it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import web

from refold.server.proxy.settings import Settings
from refold.server.proxy.stats import Stats

_log: Final = logging.getLogger("refold.serve")


class Listener(web.Server):
    """Hands requests to *handler*, and answers those that are none itself."""

    def __init__(
        self, handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], **options: Any
    ) -> None:
        """*options* are those of `web.RequestHandler`."""
        super().__init__(handler, handler_cancellation=True)
        self._options = options

    def __call__(self) -> web.RequestHandler:
        """Return what reads one connection."""
        return _Connection(self, loop=asyncio.get_running_loop(), **self._options)


class _Connection(web.RequestHandler):
    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer a request that cannot be read, or that nobody has an answer to."""
        del message
        self.log_exception(exc_info=exc)
        if request.writer.output_size:
            raise ConnectionError
        what = "this request cannot be read" if status < 500 else "this request has failed"
        answer = error_answer(status, what)
        answer.force_close()
        return answer

    def log_exception(self, *_args: Any, **named: Any) -> None:
        """Log of an error what kind it is."""
        _log.warning("a request failed: %s", type(named.get("exc_info")).__name__)

    def log_debug(self, *_args: Any, **_named: Any) -> None:
        """Log nothing."""


async def read_body(request: web.BaseRequest, settings: Settings, stats: Stats) -> bytes:
    """Return the body of a request; 413 if it is too large, 408 if it takes too long."""
    limit = settings.max_body_mb << 20
    body = bytearray()
    try:
        async with asyncio.timeout(settings.client_seconds):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > limit:
                    stats.fault("body too large")
                    raise web.HTTPRequestEntityTooLarge(limit, len(body))
    except TimeoutError:
        stats.fault("client too slow")
        raise web.HTTPRequestTimeout from None
    return bytes(body)


def error_answer(status: int, message: str) -> web.Response:
    """Return an error in the form that clients of providers read."""
    body = {"type": "error", "error": {"type": "api_error", "message": message}}
    return web.json_response(body, status=status)
