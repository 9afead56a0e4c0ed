"""Of a request that is broken, no word comes out: not in a log, a traceback or an error page."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.patience import FOR_EVER
from tests.server.proxy.agents import serving
from tests.server.proxy.running import proxy_for
from tests.server.upstream import ScriptedUpstream

KEY = b"sk-marked-0123456789"
HOST = b"Host: localhost\r\nConnection: close\r\n"
POST = b"POST /v1/messages HTTP/1.1\r\n" + HOST
COMPRESS = b"POST /v1/compress HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


def with_body(body: bytes, head: bytes = POST) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


BROKEN = [
    b"GET /v1/messages/count_tokens?key=%s\x7f HTTP/1.1\r\n" % KEY + HOST + b"\r\n",
    b"GET /v1/messages/count_tokens?key=%s\x00 HTTP/1.1\r\n" % KEY + HOST + b"\r\n",
    b"GET /v1/messages/count_tokens?key=%s HTTP/9.9\r\n" % KEY + HOST + b"\r\n",
    b"GET /v1/messages/count_tokens?key=%s\r\n" % KEY + HOST + b"\r\n",
    b"GET /v1/messages/count_tokens ?key=%s HTTP/1.1\r\n" % KEY + HOST + b"\r\n",
    b"GET http://[%s/ HTTP/1.1\r\n" % KEY + HOST + b"\r\n",
    b"GET //%s@[::/messages/count_tokens HTTP/1.1\r\n" % KEY + HOST + b"\r\n",
    b"GET /v1/%%zz/messages/count_tokens?key=%s HTTP/1.1\r\n" % KEY + HOST + b"\r\n",
    b"GET /v1/\xff/count_tokens/messages?key=%s HTTP/1.1\r\n" % KEY + HOST + b"\r\n",
    b"%s / HTTP/1.1\r\n" % KEY + HOST + b"\r\n",
    b"G\x01T /?%s HTTP/1.1\r\n" % KEY + HOST + b"\r\n",
    b"CONNECT %s:443 HTTP/1.1\r\n" % KEY + HOST + b"\r\n",
    b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % KEY,
    b"GET /%s%s HTTP/1.1\r\n" % (KEY, b"x" * 70_000) + HOST + b"\r\n",
    POST + b"Authorization : Bearer %s\r\n\r\n" % KEY,
    POST + b"Authorization\x00: Bearer %s\r\n\r\n" % KEY,
    POST + b"Authorization: Bearer %s\x00\r\n\r\n" % KEY,
    POST + b"Authorization: Bearer %s\x0b\r\n\r\n" % KEY,
    POST + b"Authorization: Bearer\r\n %s\r\n\r\n" % KEY,
    POST + b"Authorization Bearer %s\r\n\r\n" % KEY,
    POST + b": %s\r\n\r\n" % KEY,
    POST + b"X-Api-Key: %s%s\r\n\r\n" % (KEY, b"x" * 70_000),
    POST + b"Content-Length: %s\r\n\r\n" % KEY,
    POST + b"Content-Length: 1\r\nContent-Length: %s\r\n\r\n" % KEY,
    POST + b"Transfer-Encoding: %s\r\n\r\n" % KEY,
    CHUNKED + b"%s\r\n" % KEY,
    CHUNKED + b"4;%s\x00\r\nabcd\r\n0\r\n\r\n" % KEY,
    CHUNKED + b"4\r\nabcd%s" % KEY,
    with_body(b'{"messages": [{"role": "%s"' % KEY),
    with_body(b'{"model": "m", "messages": [{"role": "%s", "content": 1}]}' % KEY),
    with_body(b'{"messages": [{"role": "%s", "content": 1}]}' % KEY, COMPRESS),
    with_body(b'{"messages": [{"role": 5, "%s": 1}]}' % KEY, COMPRESS),
    with_body(b'{"messages": "%s"}' % KEY, COMPRESS),
    with_body(b"%s" % KEY, COMPRESS),
    with_body(b"\xff%s" % KEY, COMPRESS),
    b"GET /v1/responses?key=%s HTTP/1.1\r\n" % KEY
    + HOST
    + b"Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Key: %s\r\n\r\n" % KEY,
]


def answer_to(url: str, sent: bytes) -> bytes:
    """Return all that comes until the proxy hangs up."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), FOR_EVER) as connection:
        connection.sendall(sent)
        received = b""
        try:
            while chunk := connection.recv(65_536):
                received += chunk
        except ConnectionResetError:
            pass
        return received


@pytest.mark.parametrize("is_there", [True, pytest.param(False, marks=pytest.mark.campaign)])
def test_no_word_of_a_broken_request_comes_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    monkeypatch.setenv("REFOLD_CLIENT_SECONDS", "0.5")  # for the rest of a request
    with ScriptedUpstream() as upstream:
        url = upstream.url if is_there else "http://127.0.0.1:1"
        with serving(url, tmp_path / "originals.db") as (process, address):
            with ThreadPoolExecutor(8) as pool:
                seen = list(pool.map(partial(answer_to, address), BROKEN))
            assert sum(bool(answer) for answer in seen) > 30
            seen.append(answer_to(address, b"GET /metrics HTTP/1.1\r\n" + HOST + b"\r\n"))
            process.terminate()
            out, errors = process.communicate()
    seen += (out.encode(), errors.encode(), *(file.read_bytes() for file in tmp_path.iterdir()))
    assert "a request failed" in errors, "that something was wrong is said"
    assert [text for text in seen if KEY in text] == []


def test_no_word_of_a_request_comes_out_if_the_provider_breaks(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as provider:
        url = f"http://127.0.0.1:{provider.getsockname()[1]}"
        with proxy_for(url, tmp_path) as proxy:
            parts = urlsplit(proxy.url)
            with socket.create_connection((parts.hostname, parts.port), FOR_EVER) as client:
                client.sendall(b"GET /v1/models?key=%s HTTP/1.1\r\n" % KEY + HOST + b"\r\n")
                connection, _ = provider.accept()
                with connection:
                    connection.recv(65_536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nbad\x00: 1\r\n\r\n")
                answer = client.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 502")
    assert KEY not in answer
