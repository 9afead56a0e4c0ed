"""Headers on their way through: what is for the next hop only is dropped, all else is kept."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

from multidict import CIMultiDict, CIMultiDictProxy

TOKEN_HEADER: Final = "x-refold-token"
_HOP_BY_HOP: Final = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
_OF_REQUEST: Final = _HOP_BY_HOP | {"host", "content-length", "expect", TOKEN_HEADER}
_KEYS: Final = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_ROTATING: Final = ("Bearer sk-ant-oat", "Bearer eyJ")
"""How tokens begin that a client has renewed every few hours, and that name nobody for long."""
_SESSIONS: Final = ("x-claude-code-session-id", "session-id", "session_id", "x-session-id")


def for_upstream(headers: CIMultiDictProxy[str]) -> CIMultiDict[str]:
    """Return the headers of a request without those for us."""
    return _without(headers, _OF_REQUEST | _named(headers))


def for_client(headers: CIMultiDictProxy[str], *, is_changed: bool = False) -> CIMultiDict[str]:
    """Return the headers of an answer; the length only if the body is as it came."""
    dropped = _HOP_BY_HOP | _named(headers)
    return _without(headers, dropped | {"content-length"} if is_changed else dropped)


def _named(headers: CIMultiDictProxy[str]) -> frozenset[str]:
    """Return the headers that `Connection` says are for one hop only."""
    said = headers.getall("connection", ())
    return frozenset(name.strip().lower() for value in said for name in value.split(","))


def _without(headers: CIMultiDictProxy[str], dropped: Iterable[str]) -> CIMultiDict[str]:
    return CIMultiDict((n, v) for n, v in headers.items() if n.lower() not in dropped)


def tenant_of(headers: CIMultiDictProxy[str], key: str, *, is_local: bool) -> str:
    """Return a name for whose key a request has: its digest, for the key itself is never kept.

    On loopback all renewed tokens are one tenant: else every renewal would be a new one.
    """
    found = next((headers[name] for name in _KEYS if name in headers), key)
    if is_local and found.startswith(_ROTATING):
        return "local"
    return blake2b(found.encode(), digest_size=16, person=b"refold tenant").hexdigest()


def session_of(headers: CIMultiDictProxy[str]) -> str:
    """Return what a client calls its conversation; empty if it does not."""
    return next((headers[name] for name in _SESSIONS if name in headers), "")
