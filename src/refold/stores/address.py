"""Addresses of stores, as they are shown: without their passwords."""

from __future__ import annotations

from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

_SECRET = ("password", "secret", "token", "key", "sas")


def public(url: str) -> str:
    """Return *url* without what should not be in a log: its password, and secrets in its query."""
    try:
        parts = urlsplit(url)
    except ValueError:  # an address that nobody can read
        return url.partition("://")[0] + "://…"
    return parts._replace(netloc=_public_netloc(parts), query=_public_query(parts)).geturl()


def _public_netloc(parts: SplitResult) -> str:
    user, at, hosts = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return f"{name}@{hosts}" if at and name else hosts


def _public_query(parts: SplitResult) -> str:
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if not any(w in name.lower() for w in _SECRET)]
    return urlencode(kept, quote_via=quote)
