"""RefoldMiddleware in clients of the Anthropic SDK, with a server that is a function."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("httpx2")
pytest.importorskip("anthropic._middleware")

import anthropic
import httpx2

from refold import MemoryStore
from refold.integrations.anthropic import RefoldMiddleware
from tests.integrations.contract import (
    BOUND,
    TASK,
    Act,
    Brain,
    Integration,
    Mode,
    Talk,
    check_thinking,
    log_of,
)

READ = {
    "name": "read",
    "description": "Read a log.",
    "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
}


def blocks_of(act: Act, number: int) -> list[dict[str, Any]]:
    if isinstance(act, str):
        return [{"type": "text", "text": act}]
    thought = {"type": "thinking", "thinking": act.thought, "signature": "c2ln"}
    use = {"type": "tool_use", "id": f"c{number}", "name": act.name, "input": act.arguments}
    return [*([thought] if act.thought else []), use]


def texts_of(messages: list[Any]) -> list[str]:
    return ["".join(_texts(message["content"])) for message in messages]


def _texts(content: Any) -> Iterator[str]:
    for block in [content] if isinstance(content, str) else content:
        if isinstance(block, str):
            yield block
        elif block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_result":
            yield from _texts(block["content"])


def events_of(message: dict[str, Any]) -> str:
    """Spell an answer as a stream of events."""
    start = {**message, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(message["content"]):
        is_call = block["type"] == "tool_use"
        bare = {**block, "input": {}} if is_call else {**block, "text": ""}
        spelled = json.dumps(block["input"]) if is_call else block["text"]
        delta = (
            {"type": "input_json_delta", "partial_json": spelled}
            if is_call
            else {"type": "text_delta", "text": spelled}
        )
        events.append({"type": "content_block_start", "index": index, "content_block": bare})
        events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    done = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": 1}
    events.append({"type": "message_delta", "delta": done, "usage": usage})
    events.append({"type": "message_stop"})
    return "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)


class Server:
    """Answers as a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[Any] = []

    def __call__(self, request: Any) -> Any:
        body = json.loads(request.content)
        self.bodies.append(body)
        self.headers.append(request.headers)
        if request.url.path.endswith("count_tokens"):
            return httpx2.Response(200, json={"input_tokens": 1})
        act = self.brain.act(texts_of(body["messages"]))
        message = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": blocks_of(act, len(self.bodies)),
            "stop_reason": "end_turn" if isinstance(act, str) else "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if not body.get("stream"):
            return httpx2.Response(200, json=message)
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, text=events_of(message), headers=headers)


class TestAnthropic(Integration):
    model = "claude-opus-4-1"
    thinking: Any = None

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        self.refold = RefoldMiddleware(**choices)
        self.server = Server(brain)
        history: list[Any] = [{"role": "user", "content": TASK}]
        asyncio.run(self._loop(history, mode))
        offered = [tool["name"] for tool in self.server.bodies[-1]["tools"]]
        plain = json.loads(json.dumps(history, default=lambda block: block.model_dump()))
        requests = [body["messages"] for body in self.server.bodies]
        return Talk(requests, texts_of(plain), offered)

    async def _loop(self, history: list[Any], mode: Mode) -> None:
        """Run an agent: send the history, call tools, until the model is done."""
        transport = httpx2.MockTransport(self.server)
        given: dict[str, Any] = {"api_key": "k", "middleware": [self.refold]}
        client = anthropic.Anthropic(http_client=httpx2.Client(transport=transport), **given)
        aclient = anthropic.AsyncAnthropic(
            http_client=httpx2.AsyncClient(transport=transport), **given
        )
        while True:
            before = copy.deepcopy(history)
            request: dict[str, Any] = {
                "model": self.model,
                "max_tokens": 100,
                "system": "Be brief.",
                "tools": [READ, self.refold.tool],
                "messages": history,
                **({"thinking": self.thinking} if self.thinking else {}),
            }
            if mode == "sync":
                answer = client.messages.create(**request)
            elif mode == "async":
                answer = await aclient.messages.create(**request)
            else:
                async with aclient.messages.stream(**request) as stream:
                    answer = await stream.get_final_message()
            assert history == before, "the caller's list was touched"
            history.append({"role": "assistant", "content": answer.content})
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                break
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": self._call(call, history),
                }
                for call in calls
            ]
            history.append({"role": "user", "content": results})

    def _call(self, call: Any, history: list[Any]) -> str:
        if call.name == "read":
            return log_of(call.input["n"])
        return self.refold.retrieve(call.input, history)

    @pytest.mark.parametrize("way", ["auto", "strip"])
    def test_thinking(self, way: Any) -> None:
        self.model = BOUND
        self.thinking = {"type": "adaptive"}
        for budget in (3_000, 20_000):
            talk = self.run(Brain(thinks=True), thinking=way, token_budget=budget)
            check_thinking([[_told(m) for m in request] for request in talk.requests])
        thinking = self.server.bodies[-1]["thinking"]
        assert thinking["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
        assert "thinking-binding-controls-2026-08-01" in self.server.headers[-1]["anthropic-beta"]

    def test_counting_folds_as_well(self) -> None:
        refold, server = RefoldMiddleware(store=MemoryStore(), token_budget=500), Server(Brain())
        http = httpx2.Client(transport=httpx2.MockTransport(server))
        client = anthropic.Anthropic(api_key="k", http_client=http, middleware=[refold])
        use = {"type": "tool_use", "id": "c0", "name": "read", "input": {"n": 0}}
        result = {"type": "tool_result", "tool_use_id": "c0", "content": log_of(0)}
        messages: list[Any] = [
            {"role": "user", "content": TASK},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ]
        client.messages.count_tokens(model="claude-opus-4-1", messages=messages)
        sent = server.bodies[0]["messages"]
        assert len(json.dumps(sent)) < len(json.dumps(messages)) / 2
        assert "anthropic-beta" not in server.headers[0]


def _told(message: Any) -> tuple[str, Any]:
    content = message["content"]
    blocks = content if isinstance(content, list) else []
    return "".join(b["thinking"] for b in blocks if b["type"] == "thinking"), content
