"""Who may use the proxy: programs of this machine, or those that show the token."""

from __future__ import annotations

from hmac import compare_digest
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from aiohttp import web

from refold.server.proxy.headers import TOKEN_HEADER
from refold.server.proxy.settings import Settings

OPEN_PATHS: Final = ("/healthz", "/readyz")
"""What anybody may ask: it says nothing but whether the proxy runs."""
_PREFIX: Final = "/t/"
_LOCAL_NAMES: Final = ("localhost", "127.0.0.1", "::1")


class Refusal(NamedTuple):
    """Why a request is not served."""

    status: int
    reason: str


def admit(request: web.BaseRequest, settings: Settings) -> str | Refusal:
    """Return the path that a request is for, with its query; or why it is refused.

    This is no open proxy: a target with a host in it is refused. On loopback so is another `Host`,
    which is how a page on the web would come here. A token may stand in a header, or at the
    beginning of the path: the only place that every client lets its user set.
    """
    path = request.raw_path
    if not path.startswith("/") or request.method == "CONNECT":
        return Refusal(403, "this is not an open proxy: ask for a path, not for a host")
    if not settings.token:
        return path if _is_local(request, settings) else Refusal(403, "unknown host")
    shown = request.headers.get(TOKEN_HEADER, "")
    if path.startswith(_PREFIX):
        shown, slash, rest = path[len(_PREFIX) :].partition("/")
        path = slash + rest or "/"
    if path in OPEN_PATHS or compare_digest(shown.encode(), settings.token.encode()):
        return path
    return Refusal(401, f"give the token of this proxy as {TOKEN_HEADER} or as /t/TOKEN/…")


def _is_local(request: web.BaseRequest, settings: Settings) -> bool:
    try:
        name = urlsplit(f"//{request.headers.get('host', '')}").hostname
    except ValueError:
        return False
    return name in _LOCAL_NAMES or name == settings.host
