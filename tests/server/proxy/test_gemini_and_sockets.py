"""Gemini's API without its SDK, and WebSockets as Codex may use them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import httpx2
import pytest

from refold.server.proxy.proxy import Proxy
from tests.patience import FOR_EVER
from tests.server.proxy.running import log_of, proxy_for
from tests.server.proxy.test_retrieval import BUDGET, LINES, ask_for_original
from tests.server.upstream import Call, Say, ScriptedUpstream


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as upstream:
        yield upstream


@pytest.fixture
def proxy(upstream: ScriptedUpstream, tmp_path: Path) -> Iterator[Proxy]:
    with proxy_for(upstream, tmp_path, token_budget=BUDGET) as proxy:
        yield proxy


def parts_of(answer: httpx2.Response, *, is_streamed: bool) -> list[Any]:
    if not is_streamed:
        found: list[Any] = answer.json()["candidates"][0]["content"]["parts"]
        return found
    events = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    return [p for e in events for p in json.loads(e)["candidates"][0]["content"]["parts"]]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_gemini_gets_originals(upstream: ScriptedUpstream, proxy: Proxy, is_streamed: bool) -> None:
    upstream.script.extend([Call("read_log", {}), ask_for_original("So.")])
    upstream.script.extend([Say("It is the log."), Say("Yes.")])
    method = "streamGenerateContent?alt=sse" if is_streamed else "generateContent"
    url = f"{proxy.url}/v1beta/models/gemini-2.5-pro:{method}"
    contents: list[Any] = [{"role": "user", "parts": [{"text": "What is in the log?"}]}]
    tools = [{"functionDeclarations": [{"name": "read_log", "description": "Reads."}]}]

    def ask() -> list[Any]:
        body = {"contents": contents, "tools": tools}
        answer = httpx2.post(url, json=body, headers={"x-goog-api-key": "k"}, timeout=FOR_EVER)
        parts = parts_of(answer, is_streamed=is_streamed)
        contents.append({"role": "model", "parts": parts})
        return parts

    ask()
    result = {"name": "read_log", "response": {"result": log_of(LINES)}}
    contents.append({"role": "user", "parts": [{"functionResponse": result}]})
    assert [part["text"] for part in ask()] == ["So.", "It is the log."]
    contents.append({"role": "user", "parts": [{"text": "Sure?"}]})
    ask()
    upstream.check_prefixes()
    assert log_of(LINES).splitlines()[7] in json.dumps(upstream.requests[-1].messages[4])
    assert proxy.stats.totals.retrievals == 1


def test_a_websocket_is_relayed_and_what_is_whole_is_folded(
    upstream: ScriptedUpstream, proxy: Proxy
) -> None:
    items = [
        {"role": "user", "content": "What is in the log?"},
        {"type": "function_call", "call_id": "a", "name": "read_log", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": log_of(60)},
    ]
    create = {"type": "response.create", "model": "gpt-5", "input": items}

    async def talk() -> list[Any]:
        url = f"{proxy.url}/v1/socket/responses".replace("http:", "ws:")
        async with aiohttp.ClientSession() as client, client.ws_connect(url) as socket:
            await socket.send_json(create)
            first = await socket.receive_json()
            await socket.send_json({"type": "other", "input": items})
            second = await socket.receive_json()
            await socket.send_bytes(b"\x00\x01")
            return [first, second, await socket.receive_bytes()]

    done = {"type": "response.completed"}
    assert asyncio.run(talk()) == [done, done, b"\x00\x01"]
    folded, other = (request.body for request in upstream.requests)
    assert folded["type"] == "response.create"
    assert folded["input"][:2] == items[:2]
    assert len(folded["input"][2]["output"]) < len(log_of(60))
    assert other["input"] == items
