"""The way in: how requests are read, who may use the proxy, and which headers are forwarded.

Of a request that cannot be read, no word goes anywhere: aiohttp logs it with the line that is
wrong, and quotes it in the answer, and there may be a key in it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from hmac import compare_digest
from typing import Any, Final

from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy

from refold.server.proxy.settings import Settings
from refold.server.proxy.stats import Stats

TOKEN_HEADER: Final = "x-refold-token"
CONTROL_HEADER: Final = "x-refold"
"""How a request may be folded: `on`, `off`, or `lossless`."""
_HOP_BY_HOP: Final = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade".split()
)
_OF_REQUEST: Final = _HOP_BY_HOP | {
    "host",
    "content-length",
    "expect",
    TOKEN_HEADER,
    CONTROL_HEADER,
}
_KEYS: Final = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_ROTATING: Final = ("Bearer sk-ant-oat", "Bearer eyJ")
"""Prefixes of short-lived tokens: they do not identify a client for long."""
_SESSIONS: Final = ("x-claude-code-session-id", "session-id", "session_id", "x-session-id")
_OPEN_PATHS: Final = ("/healthz", "/readyz")
"""Paths that need no token: they only show whether the proxy runs."""
_PREFIX: Final = "/t/"
_LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_HOST: Final = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?")
"""A host as it may be in a header: nothing but a name or address, and perhaps a port."""
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


def for_upstream(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """Return the headers of a request without those meant for the proxy."""
    return _without(headers, _OF_REQUEST)


def for_client(headers: CIMultiDictProxy[str], *, is_changed: bool = False) -> CIMultiDict[str]:
    """Return the headers of an answer; without the length if the body is changed."""
    return _without(headers, _HOP_BY_HOP | {"content-length"} if is_changed else _HOP_BY_HOP)


def _without(headers: CIMultiDictProxy[str], dropped: frozenset[str]) -> CIMultiDict[str]:
    """Drop headers, and those that `Connection` lists as for one hop only."""
    values = headers.getall("connection", ())
    dropped |= {name.strip().lower() for value in values for name in value.split(",")}
    return CIMultiDict((n, v) for n, v in headers.items() if n.lower() not in dropped)


def tenant_of(headers: CIMultiDictProxy[str], key: str, *, is_local: bool) -> str:
    """Return a name for the owner of a request's key: its digest, since keys are never kept.

    On loopback all short-lived tokens are one tenant: otherwise every renewal would be a new one.
    """
    owner = next((headers[name] for name in _KEYS if name in headers), key)
    if is_local and owner.startswith(_ROTATING):
        return "local"
    return blake2b(owner.encode(), digest_size=16, person=b"refold tenant").hexdigest()


def is_flat(headers: CIMultiDictProxy[str]) -> bool:
    """Return whether a request is paid by a subscription, not by its tokens."""
    return headers.get("authorization", "").startswith(_ROTATING)


def session_of(headers: CIMultiDictProxy[str]) -> str:
    """Return the client's id of its conversation; empty if it sends none."""
    return next((headers[name] for name in _SESSIONS if name in headers), "")


def admit(request: web.BaseRequest, settings: Settings) -> str:
    """Return the path and query of a request; raise 401 or 403 if it is refused.

    This is not an open proxy: a target with a host in it is refused. So is what a page of another
    origin sends, by whatever name it has got here. The token may be in a header, or at the start of
    the path: the only place that every client lets its user set.
    """
    path, headers = request.raw_path, request.headers
    host = headers.get("host", "").lower()
    origins = {origin.lower() for origin in headers.getall("origin", ())}
    sites = set(headers.getall("sec-fetch-site", ()))
    if origins - {f"http://{host}", f"https://{host}"} or sites - {"same-origin", "none"}:
        raise web.HTTPForbidden(reason="pages of other origins may not use this proxy")
    if not path.startswith("/") or request.method == "CONNECT":
        raise web.HTTPForbidden(reason="this is not an open proxy: ask for a path, not for a host")
    if not settings.token:
        match = _HOST.fullmatch(",".join(headers.getall("host", ())).lower())
        if match is None or (match[1] or match[2]) not in (*_LOCAL_NAMES, settings.host.lower()):
            raise web.HTTPForbidden(reason="unknown host")
        return path
    token = headers.get(TOKEN_HEADER, "")
    if path.startswith(_PREFIX):
        token, slash, rest = path[len(_PREFIX) :].partition("/")
        path = slash + rest or "/"
    if path in _OPEN_PATHS or compare_digest(token.encode(), settings.token.encode()):
        return path
    reason = f"give the token of this proxy as {TOKEN_HEADER} or as /t/TOKEN/…"
    raise web.HTTPUnauthorized(reason=reason)
