"""Gemini's API without its SDK, and WebSockets as Codex may use them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import httpx2
import pytest

from refold.server.proxy.proxy import Proxy
from tests.patience import FOR_EVER, until
from tests.server.proxy.conftest import Running, Shared
from tests.server.proxy.running import last_session, log_of
from tests.server.proxy.test_retrieval import BUDGET, LINES, ask_for_original
from tests.server.upstream import Call, Say, ScriptedUpstream


@pytest.fixture
def lent(shared: Shared) -> Running:
    return shared(token_budget=BUDGET)


@pytest.fixture
def upstream(lent: Running) -> ScriptedUpstream:
    return lent.upstream


@pytest.fixture
def proxy(lent: Running) -> Proxy:
    return lent.proxy


def parts_of(answer: httpx2.Response, *, is_streamed: bool) -> list[Any]:
    if not is_streamed:
        found: list[Any] = answer.json()["candidates"][0]["content"]["parts"]
        return found
    events = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
    return [p for e in events for p in json.loads(e)["candidates"][0]["content"]["parts"]]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_gemini_gets_originals(
    upstream: ScriptedUpstream, proxy: Proxy, key: str, is_streamed: bool
) -> None:
    upstream.script.extend([Call("read_log", {}), ask_for_original("So.")])
    upstream.script.extend([Say("It is the log."), Say("Yes.")])
    method = "streamGenerateContent?alt=sse" if is_streamed else "generateContent"
    url = f"{proxy.url}/v1beta/models/gemini-2.5-pro:{method}"
    contents: list[Any] = [{"role": "user", "parts": [{"text": "What is in the log?"}]}]
    tools = [{"functionDeclarations": [{"name": "read_log", "description": "Reads."}]}]

    def ask() -> list[Any]:
        body = {"contents": contents, "tools": tools}
        answer = httpx2.post(url, json=body, headers={"x-goog-api-key": key}, timeout=FOR_EVER)
        parts = parts_of(answer, is_streamed=is_streamed)
        contents.append({"role": "model", "parts": parts})
        return parts

    (called,) = (part["functionCall"] for part in ask())
    result = {**called, "response": {"result": log_of(2 * LINES)}}
    result.pop("args")
    contents.append({"role": "user", "parts": [{"functionResponse": result}]})
    assert [part["text"] for part in ask()] == ["So.", "It is the log."]
    contents.append({"role": "user", "parts": [{"text": "Sure?"}]})
    ask()
    upstream.check_prefixes()
    assert log_of(2 * LINES).splitlines()[7] in json.dumps(upstream.requests[-1].messages[4])
    assert until(lambda: last_session(proxy).totals.retrievals == 1)


TOOLS = [{"type": "function", "name": "read_log", "parameters": {}}]


def loop_of(turns: int, lines: int = 60) -> list[Any]:
    """Return the items of a loop that has read so many logs."""
    items: list[Any] = [{"role": "user", "content": "What is in the logs?"}]
    for n in range(turns):
        call = {"type": "function_call", "call_id": f"c{n}", "name": "read_log", "arguments": "{}"}
        result = {"type": "function_call_output", "call_id": f"c{n}", "output": log_of(lines, n)}
        items += [call, result]
    return items


def create(items: list[Any], **more: Any) -> dict[str, Any]:
    return {"type": "response.create", "model": "gpt-5", "tools": TOOLS, "input": items, **more}


def talk(proxy: Proxy, key: str, *sent: dict[str, Any] | bytes) -> list[Any]:
    """Send messages on one WebSocket; return what comes back for each."""

    async def exchange() -> list[Any]:
        url = f"{proxy.url}/v1/socket/responses".replace("http:", "ws:")
        answers: list[Any] = []
        headers = {"authorization": f"Bearer {key}"}
        async with (
            aiohttp.ClientSession(headers=headers) as client,
            client.ws_connect(url) as socket,
        ):
            for message in sent:
                if isinstance(message, bytes):
                    await socket.send_bytes(message)
                    answers.append(await socket.receive_bytes())
                else:
                    await socket.send_json(message)
                    answers.append((await socket.receive_json())["type"])
        return answers

    return asyncio.run(exchange())


def test_a_websocket_is_relayed_and_what_is_whole_is_folded(
    upstream: ScriptedUpstream, proxy: Proxy, key: str
) -> None:
    items = loop_of(1)
    follows = create(items[2:], previous_response_id="resp_1")
    other = {"type": "other", "model": "gpt-5", "input": items}
    answers = talk(proxy, key, create(items), follows, other, b"\x00\x01")
    assert answers == [*["response.completed"] * 3, b"\x00\x01"]
    folded, *passed = (request.body for request in upstream.requests)
    assert {**folded, "input": items} == create(items)
    assert folded["input"][:2] == items[:2]
    assert len(folded["input"][2]["output"]) < len(log_of(60))
    assert passed == [follows, other]


def test_on_a_websocket_nothing_is_left_out_for_nobody_could_fetch_it(
    upstream: ScriptedUpstream, proxy: Proxy, key: str
) -> None:
    talk(proxy, key, *(create(loop_of(turns, LINES)) for turns in (1, 2, 3)))
    upstream.check_prefixes()
    for request in upstream.requests:
        assert request.body["tools"] == TOOLS
        results = [item["output"] for item in request.messages if "output" in item]
        assert all(result.startswith("[reformatted #") for result in results)
    totals = last_session(proxy).totals
    assert totals.folded == totals.requests == 3
    assert totals.tokens_after < totals.tokens_before
    assert totals.cache_read > 0
    assert 0 < totals.money_after < totals.money_before
