"""Bodies of any form are read to the end, within bounds, and hold up nobody else."""

from __future__ import annotations

import gzip
import json
import socket
import time
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from refold.server.proxy.answering import MAX_READ_BYTES, Meter
from refold.server.proxy.apis import find_api
from refold.server.proxy.proxy import Proxy
from tests.patience import FOR_EVER
from tests.server.proxy.agents import Agent
from tests.server.proxy.conftest import Shared
from tests.server.proxy.running import last_session, log_of, proxy_for
from tests.server.upstream import Raw, ScriptedUpstream

ROWS = [
    {"role": "user", "content": "What is in the log?"},
    {"role": "tool", "tool_call_id": "a", "content": log_of(80)},
]
USAGE = b'data: {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}\n\n'


def bomb(megabytes: int, unit: bytes = b" ", end: bytes = b"") -> bytes:
    """Return so much of *unit*, packed a hundred times smaller or more."""
    pack = zlib.compressobj(1, zlib.DEFLATED, 31)
    packed = b"".join(pack.compress(unit * ((1 << 20) // len(unit))) for _ in range(megabytes))
    return packed + pack.compress(end) + pack.flush()


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("unit", [b" ", b"\n\n", b'data: {"usage": {}}\n\n'])
def test_a_packed_answer_is_read_up_to_a_limit(kind: str, unit: bytes) -> None:
    api = find_api("/v1/chat/completions")
    assert api is not None
    for size in (1024, 4096, 1 << 20):
        meter = Meter(api, {"content-encoding": "gzip", "content-type": kind})
        packed = bomb(20, unit, USAGE)
        for start in range(0, len(packed), size):
            meter.feed(packed[start : start + size])
        assert meter.close().prompt == 0, "what comes after the limit is not looked at"


@pytest.mark.parametrize("is_streamed", [True, False])
def test_a_bomb_passes_and_is_not_counted(shared: Shared, key: str, is_streamed: bool) -> None:
    upstream, proxy = shared()
    packed = bomb(64)
    kind = "text/event-stream" if is_streamed else "application/json"
    upstream.script.append(Raw(packed, kind, "gzip"))
    agent = Agent(proxy.url, key=key)
    url = f"{proxy.url}/v1/messages"
    with httpx2.stream(
        "POST", url, json=agent.body, headers=agent.headers, timeout=FOR_EVER
    ) as answer:
        assert b"".join(answer.iter_raw()) == packed
    assert last_session(proxy).totals.prompt_tokens == 0


def test_what_is_within_the_limits_is_counted() -> None:
    api = find_api("/v1/chat/completions")
    assert api is not None
    filler = b'data: {"choices": []}\n\n' * (MAX_READ_BYTES // 10)
    for encoding, data in (("", filler + USAGE), ("gzip", gzip.compress(filler + USAGE))):
        headers = {"content-encoding": encoding, "content-type": "text/event-stream"}
        meter = Meter(api, headers)
        for start in range(0, len(data), 1000):
            meter.feed(data[start : start + 1000])
        assert meter.close().prompt == 9
    long_line = b"data: " + b"x" * (2 * MAX_READ_BYTES) + b"\n\n"
    meter = Meter(api, {"content-type": "text/event-stream"})
    for start in range(0, len(long_line + USAGE), 1000):
        meter.feed((long_line + USAGE)[start : start + 1000])
    assert meter.close().prompt == 9, "what follows a line that is too long"


def post_in_pieces(proxy: Proxy, path: str, body: bytes, pieces: int, length: int) -> bytes:
    """Send a body in several packets, with a pause between them; return the head of the answer."""
    parts = urlsplit(proxy.url)
    with socket.create_connection((parts.hostname, parts.port), FOR_EVER) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        client.sendall(head.encode())
        size = -(-len(body) // pieces)
        for start in range(0, len(body), size):
            time.sleep(0.05)
            client.sendall(body[start : start + size])
        return client.recv(65_536)


def test_what_is_to_be_compressed_may_come_in_pieces(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    body = json.dumps({"messages": ROWS}).encode()
    with proxy_for(upstream, tmp_path, max_body_mb=1, client_seconds=0.5) as proxy:
        for pieces in (2, 4):
            answer = post_in_pieces(proxy, "/v1/compress", body, pieces, len(body))
            assert answer.startswith(b"HTTP/1.1 200")
        unfinished = post_in_pieces(proxy, "/v1/compress", body, 2, len(body) + 1)
        assert unfinished.startswith(b"HTTP/1.1 408"), "it is not waited for without end"
        url = f"{proxy.url}/v1/compress"
        assert httpx2.post(url, content=b"x" * (1 << 21)).status_code == 413
        packed = httpx2.post(url, content=gzip.compress(body), headers={"content-encoding": "gzip"})
        assert packed.status_code == 415


def test_a_packed_request_goes_on_as_it_came(shared: Shared, key: str) -> None:
    upstream, proxy = shared()
    packed = gzip.compress(json.dumps(Agent("").body).encode())
    headers = {"content-encoding": "gzip", "x-api-key": key}
    answer = httpx2.post(f"{proxy.url}/v1/files", content=packed, headers=headers)
    assert answer.json()["bytes"] == len(gzip.decompress(packed)), "its server unpacks it"
    assert upstream.requests[-1].headers["content-encoding"] == "gzip"
    assert int(upstream.requests[-1].headers["content-length"]) == len(packed)
