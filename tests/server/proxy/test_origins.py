"""Pages of other origins may not use the proxy, whatever they send and by whatever name."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from refold.server.proxy.proxy import Proxy
from tests.server.proxy.conftest import Running, Shared
from tests.server.proxy.running import proxy_for
from tests.server.proxy.test_security import TOKEN, raw_request
from tests.server.upstream import ScriptedUpstream


@pytest.fixture
def lent(shared: Shared) -> Running:
    return shared()


@pytest.fixture
def upstream(lent: Running) -> ScriptedUpstream:
    return lent.upstream


@pytest.fixture
def proxy(lent: Running) -> Proxy:
    return lent.proxy


SOCKET = {
    "connection": "upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}
ROUTES = [
    ("GET", "/", {}),
    ("GET", "/v1/refold/x", {}),
    ("GET", "/stats", {}),
    ("GET", "/healthz", {}),
    ("GET", "/session/x", {}),
    ("GET", "/v1/retrieve/0123456789ab", {}),
    ("OPTIONS", "/v1/messages", {}),
    ("POST", "/v1/compress", {"content-type": "text/plain"}),
    ("POST", "/v1/messages", {"content-type": "text/plain"}),
    ("GET", "/v1/socket/responses", SOCKET),
]
FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://localhost:1"},
    {"origin": "http://127.0.0.1.evil.example"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize(("method", "path", "more"), ROUTES)
def test_another_origin_is_refused_on_every_route(
    upstream: ScriptedUpstream, proxy: Proxy, method: str, path: str, more: dict[str, str]
) -> None:
    for foreign in FOREIGN:
        answer = httpx2.request(method, proxy.url + path, headers={**more, **foreign})
        assert answer.status_code == 403, foreign
        assert "access-control-allow-origin" not in answer.headers
    assert not upstream.requests


def test_a_token_is_no_leave_for_other_origins(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    with proxy_for(upstream, tmp_path, token=TOKEN) as proxy:
        for foreign in FOREIGN:
            answer = httpx2.get(f"{proxy.url}/t/{TOKEN}/stats", headers=foreign)
            assert answer.status_code == 403


def test_the_page_itself_and_programs_are_served(proxy: Proxy) -> None:
    for headers in (
        {},
        {"origin": proxy.url},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"},
    ):
        assert httpx2.get(f"{proxy.url}/stats", headers=headers).json()["active"] == 0


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("localhost", True),
        ("LOCALHOST:8787", True),
        ("127.0.0.1:1", True),
        ("[::1]:8787", True),
        ("evil.com@127.0.0.1", False),
        ("127.0.0.1#evil.com", False),
        ("127.0.0.1?evil.com", False),
        ("127.0.0.1/evil.com", False),
        ("localhost:80:evil", False),
        ("localhost:evil", False),
        ("localhost:", False),
        ("localhost.evil.com", False),
        ("evil.com", False),
        ("[::1", False),
        ("::1", False),
        ("[::1]evil", False),
        ("localhost\\evil", False),
        ("localhost,evil.com", False),
        ("", False),
    ],
)
def test_a_host_is_read_as_a_whole(proxy: Proxy, host: str, is_local: bool) -> None:
    assert raw_request(proxy.url, "GET", "/stats", host) == (200 if is_local else 403)
