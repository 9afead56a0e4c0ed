"""Pages of other origins and made-up hosts: none of them gets anything out of the proxy."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attacks.base import Area, Check
from attacks.proxied import Serving, ask_raw, head, providing, serving

_ROUTES = (
    ("GET", "/"),
    ("GET", "/v1/refold/x"),
    ("GET", "/stats"),
    ("GET", "/metrics"),
    ("GET", "/readyz"),
    ("GET", "/v1/retrieve/0123456789ab"),
    ("GET", "/v1/models"),
    ("OPTIONS", "/v1/messages"),
    ("POST", "/v1/messages"),
    ("POST", "/v1/compress"),
    ("POST", "/v1/chat/completions"),
)
_SOCKET = {
    "connection": "upgrade",
    "upgrade": "websocket",
    "sec_websocket_version": "13",
    "sec_websocket_key": "dGhlIHNhbXBsZSBub25jZQ==",
}
_LOCAL = ("localhost", "127.0.0.1", "[::1]")
_EVIL = ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:1", "127.1")
_GLUE = ("@", "#", "?", "/", "\\", ":", ",", ";", "%00", "%40", ".", " ", "\t", "..")


def run(scale: float, seed: int) -> Area:
    """Ask as browsers do on behalf of other pages, and by hosts that only look local."""
    rng = random.Random(seed)
    origins = Check("another origin gets nothing")
    hosts = Check("a host that is not local gets nothing")
    own = Check("the page itself is served")
    sent_on = Check("nothing of it is sent on")
    with (
        tempfile.TemporaryDirectory() as name,
        providing() as provider,
        serving(provider.url, Path(name)) as proxy,
    ):
        for _ in range(max(20, int(3_000 * scale))):
            provider.reset()
            _attack(proxy, rng, origins, _foreign(rng))
            _attack(proxy, rng, hosts, {"host": _host(rng)})
            sent_on.record(bool(provider.bodies), "a request that was refused")
            _visit(proxy, rng, own)
    return Area("origins", [origins, hosts, own, sent_on])


def _attack(proxy: Serving, rng: random.Random, check: Check, wrong: dict[str, str]) -> None:
    """Ask for any route, as a socket or not, with what is *wrong* about it."""
    method, path = rng.choice(_ROUTES)
    more = _SOCKET if rng.random() < 0.2 else {"content_type": "text/plain"}
    body = b'{"messages": []}' if method == "POST" else b""
    sent = head(method, path, **{**more, "content_length": len(body), **wrong}) + body
    status = ask_raw(proxy.url, sent)[9:12]
    check.record(status not in (b"403", b"400"), f"{method} {path} {wrong}: {status!r}")


def _visit(proxy: Serving, rng: random.Random, check: Check) -> None:
    host = proxy.url.removeprefix("http://")
    own = rng.choice(
        [{}, {"origin": proxy.url}, {"sec_fetch_site": "same-origin"}, {"sec_fetch_site": "none"}]
    )
    answer = ask_raw(proxy.url, head("GET", "/stats", host=host, **own))
    check.record(not answer.startswith(b"HTTP/1.1 200"), f"{own}: {answer[:60]!r}")


def _foreign(rng: random.Random) -> dict[str, str]:
    """Return the headers that a browser sends for a page of another origin."""
    site = rng.choice(_EVIL)
    origin = rng.choice([f"http://{site}", f"https://{site}", "null", f"http://{_host(rng)}", ""])
    fetched = rng.choice(["cross-site", "same-site"])
    return rng.choice(
        [
            {"origin": origin},
            {"sec_fetch_site": fetched},
            {"origin": origin, "sec_fetch_site": fetched},
        ]
    )


def _host(rng: random.Random) -> str:
    """Return a host that is not this machine, however much it looks like it."""
    parts: Sequence[str] = (rng.choice(_LOCAL), rng.choice(_EVIL[:3]))
    if rng.random() < 0.5:
        parts = (parts[1], parts[0])
    return rng.choice([rng.choice(_EVIL[:3]), rng.choice(_GLUE).join(parts)])
