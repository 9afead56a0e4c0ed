"""Who may connect, what is never kept, and whose originals are whose."""

from __future__ import annotations

import http.client
import json
import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from refold.errors import ConfigError
from refold.server.proxy.proxy import Proxy
from refold.server.proxy.settings import Settings
from tests.patience import FOR_EVER
from tests.server.proxy.agents import Agent
from tests.server.proxy.running import log_of, proxy_for
from tests.server.upstream import ScriptedUpstream

TOKEN = "a-token-of-some-length"


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as upstream:
        yield upstream


@pytest.fixture(scope="module")
def proxy(upstream: ScriptedUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with proxy_for(upstream, tmp_path_factory.mktemp("proxy"), max_body_mb=1) as proxy:
        yield proxy


def raw_request(url: str, method: str, target: str, host: str) -> int:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=FOR_EVER)
    try:
        connection.putrequest(method, target, skip_host=True)
        connection.putheader("Host", host)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("host", ["", "0.0.0.0", "192.168.0.7", "example.org", "::"])
def test_other_machines_need_a_token(host: str) -> None:
    with pytest.raises(ConfigError, match="give a token"):
        Settings(host=host)
    assert Settings(host=host, token=TOKEN).token == TOKEN


def test_a_port_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match="port must be at most 65535; got 99999"):
        Settings(port=99_999)
    assert Settings(port=65_535).port == 65_535


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.9"])
def test_loopback_needs_none(host: str) -> None:
    assert Settings(host=host).is_local


def test_a_token_is_never_shown() -> None:
    assert TOKEN not in repr(Settings(token=TOKEN))


def test_it_is_no_open_proxy(upstream: ScriptedUpstream, proxy: Proxy) -> None:
    count = len(upstream.requests)
    assert raw_request(proxy.url, "GET", "http://example.org/", "127.0.0.1") == 403
    assert raw_request(proxy.url, "GET", "/v1/models", "example.org") == 403
    assert raw_request(proxy.url, "GET", "/stats", "evil.example:8787") == 403
    assert raw_request(proxy.url, "GET", "/v1/models", "localhost:1234") == 200
    assert len(upstream.requests) == count + 1


def test_a_client_that_waits_for_leave_gets_it(upstream: ScriptedUpstream, proxy: Proxy) -> None:
    body = b'{"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}'
    with socket.create_connection(("127.0.0.1", urlsplit(proxy.url).port or 0), 60) as connection:
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body))
        assert connection.recv(100).startswith(b"HTTP/1.1 100 Continue")
        connection.sendall(body)
        assert connection.recv(100).startswith(b"HTTP/1.1 200 OK")
    assert upstream.requests[-1].raw == body


def test_a_body_has_a_limit(upstream: ScriptedUpstream, proxy: Proxy) -> None:
    count = len(upstream.requests)
    answer = httpx2.post(f"{proxy.url}/v1/messages", content=b"x" * (1 << 21))
    assert answer.status_code == 413
    assert len(upstream.requests) == count


def wait_for_end(url: str, sent: bytes) -> bytes:
    """Connect, send something, and return what comes until the proxy hangs up."""
    with socket.create_connection(("127.0.0.1", urlsplit(url).port or 0), FOR_EVER) as connection:
        connection.sendall(sent)
        received = b""
        while chunk := connection.recv(4096):
            received += chunk
        return received


def test_slow_clients_are_not_waited_for(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    count = len(upstream.requests)
    with proxy_for(upstream, tmp_path, client_seconds=0.2) as proxy:
        assert wait_for_end(proxy.url, b"") == b""
        assert wait_for_end(proxy.url, b"POST /v1/messages HTTP/1.1\r\nHo") == b""
        head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\nhalf"
        assert wait_for_end(proxy.url, head % b"/v1/messages").startswith(b"HTTP/1.1 408")
        assert proxy.stats.faults["client too slow"] == 1
        assert wait_for_end(proxy.url, head % b"/v1/files").startswith(b"HTTP/1.1 408")
        assert proxy.stats.faults["client too slow"] == 2
    assert len(upstream.requests) == count


def test_a_silent_provider_is_not_waited_for(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with proxy_for(url, tmp_path, upstream_seconds=0.2) as proxy:
            assert Agent(proxy.url).ask().status_code == 502
            assert proxy.stats.faults["upstream unreachable"] == 1


def test_a_token_opens_the_door(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    with proxy_for(upstream, tmp_path, token=TOKEN) as proxy:
        assert httpx2.get(f"{proxy.url}/stats").status_code == 401
        assert httpx2.get(f"{proxy.url}/v1/models").status_code == 401
        assert httpx2.get(f"{proxy.url}/t/wrong-token/stats").status_code == 401
        assert httpx2.get(f"{proxy.url}/healthz").status_code == 200
        assert httpx2.get(f"{proxy.url}/t/{TOKEN}/").status_code == 200
        assert httpx2.get(f"{proxy.url}/t/{TOKEN}").headers["location"] == f"/t/{TOKEN}/"
        assert httpx2.get(f"{proxy.url}/t/{TOKEN}/v1/models").json()["path"] == "/v1/models"
        shown = {"x-refold-token": TOKEN}
        assert httpx2.get(f"{proxy.url}/v1/models", headers=shown).status_code == 200
        assert "x-refold-token" not in upstream.requests[-1].headers


def test_the_page_loads_nothing_from_elsewhere(proxy: Proxy) -> None:
    page = httpx2.get(f"{proxy.url}/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "http" not in page.text
    assert "src=" not in page.text


def test_keys_and_content_are_neither_logged_nor_shown(
    upstream: ScriptedUpstream, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = "sk-ant-very-secret-key"
    with caplog.at_level(logging.DEBUG), proxy_for(upstream, tmp_path) as proxy:
        agent = Agent(proxy.url, key=key)
        for _ in range(3):
            agent.turn()
        seen = caplog.text + httpx2.get(f"{proxy.url}/stats").text
        seen += httpx2.get(f"{proxy.url}/metrics").text
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert key not in seen
    assert key.encode() not in kept
    assert log_of(1).split()[2] not in seen
    assert "What is in the logs?" not in seen
    assert upstream.requests[-1].headers["x-api-key"] == key


def test_a_handle_of_one_key_opens_nothing_of_another(proxy: Proxy) -> None:
    rows = [
        {"role": "user", "content": "What is in the log?"},
        {"role": "tool", "tool_call_id": "a", "content": log_of(80)},
    ]
    ann, bob = ({"authorization": f"Bearer {name}"} for name in ("sk-ann", "sk-bob"))
    folded = httpx2.post(
        f"{proxy.url}/v1/compress", json={"messages": rows, "model": "gpt-5"}, headers=ann
    ).json()
    (name,) = folded["ccr_hashes"]
    url = f"{proxy.url}/v1/retrieve/{name}"
    assert httpx2.get(url, headers=ann).json() == {"original_content": log_of(80)}
    assert httpx2.get(url, headers=bob).status_code == 404
    assert httpx2.get(url).status_code == 404


def test_litellms_contract(proxy: Proxy) -> None:
    rows = [
        {"role": "user", "content": "What is in the log?"},
        {"role": "assistant", "content": "Let me see."},
        {"role": "tool", "tool_call_id": "a", "content": log_of(80)},
    ]
    url = f"{proxy.url}/v1/compress"
    folded = httpx2.post(url, json={"messages": rows, "model": "gpt-5"}).json()
    assert [row["role"] for row in folded["messages"]] == ["user", "assistant", "tool"]
    assert folded["messages"][:2] == rows[:2]
    (name,) = folded["ccr_hashes"]
    assert len(name) == 24
    assert int(name, 16)
    assert f"#{name}]" in folded["messages"][2]["content"]
    assert folded["tokens_saved"] == folded["tokens_before"] - folded["tokens_after"] > 0
    some = httpx2.get(f"{proxy.url}/v1/retrieve/{name}", params={"query": "10:00:07"}).json()
    assert log_of(80).splitlines()[7] in some["original_content"]
    assert len(some["original_content"]) < len(log_of(80))
    bypass = httpx2.post(url, json={"messages": rows}, headers={"x-headroom-bypass": "true"})
    assert json.loads(bypass.content)["messages"] == rows
    assert httpx2.post(url, content=b"[]").status_code == 400
    assert httpx2.get(f"{proxy.url}/v1/retrieve/0123456789ab").status_code == 404


def test_figures_for_prometheus(proxy: Proxy) -> None:
    text = httpx2.get(f"{proxy.url}/metrics").text
    for name in ("refold_requests_total", "refold_tokens_before_total", "refold_fold_seconds_sum"):
        assert f"\n{name} " in f"\n{text}"
    assert httpx2.get(f"{proxy.url}/readyz").text == "ready\n"
