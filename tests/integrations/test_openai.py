"""RefoldTransport in clients of the OpenAI SDK, with a server that is a function."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
from typing import Any

import pytest

pytest.importorskip("openai", minversion="3")

import httpx2
import openai

from refold import MemoryStore
from refold.integrations.openai import AsyncRefoldTransport, RefoldTransport
from tests.integrations.contract import TASK, Brain, Integration, Mode, Talk, log_of

PARAMETERS = {"type": "object", "properties": {"n": {"type": "integer"}}}


def text_of(message: Any) -> str:
    said = message.get("content", message.get("output", ""))
    if isinstance(said, list):
        return "".join(str(block.get("text", "")) for block in said)
    return str(said or "")


class Server:
    """Answers chat completions and responses as a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, request: Any) -> Any:
        body = json.loads(request.content)
        assert int(request.headers["content-length"]) == len(request.content)
        self.bodies.append(body)
        is_chat = request.url.path.endswith("/chat/completions")
        act = self.brain.act([text_of(m) for m in body["messages" if is_chat else "input"]])
        number = len(self.bodies)
        return self._chat(act, number, body) if is_chat else self._response(act, number)

    def _chat(self, act: Any, number: int, body: Any) -> Any:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": act if isinstance(act, str) else None,
        }
        if not isinstance(act, str):
            function = {"name": act.name, "arguments": json.dumps(act.arguments)}
            call = {"id": f"c{number}", "type": "function", "function": function}
            message["tool_calls"] = [call]
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            head = {"id": "x", "object": "chat.completion", "created": 0, "model": "gpt-5"}
            return httpx2.Response(200, json={**head, "choices": [choice]})
        for index, call in enumerate(message.get("tool_calls", ())):
            call["index"] = index
        choice = {"index": 0, "delta": message, "finish_reason": "stop"}
        head = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "gpt-5"}
        chunk = json.dumps({**head, "choices": [choice]})
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, text=f"data: {chunk}\n\ndata: [DONE]\n\n", headers=headers)

    def _response(self, act: Any, number: int) -> Any:
        output: list[dict[str, Any]] = []
        if isinstance(act, str):
            text = {"type": "output_text", "text": act, "annotations": []}
            said = {"type": "message", "role": "assistant", "status": "completed"}
            output.append({**said, "id": f"m{number}", "content": [text]})
        else:
            if act.thought:
                kept = {"type": "reasoning", "summary": [], "encrypted_content": act.thought}
                output.append({**kept, "id": f"rs{number}"})
            call = {"type": "function_call", "call_id": f"c{number}", "name": act.name}
            output.append({**call, "id": f"fc{number}", "arguments": json.dumps(act.arguments)})
        head = {"id": "r", "object": "response", "created_at": 0, "model": "gpt-5"}
        rest = {"tool_choice": "auto", "tools": [], "parallel_tool_calls": False}
        return httpx2.Response(200, json={**head, **rest, "output": output})


class TestOpenAI(Integration):
    api = "chat"

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        self.server = Server(brain)
        history: list[Any] = [{"role": "user", "content": TASK}]
        transport = httpx2.MockTransport(self.server)
        if mode == "sync":
            refold: Any = RefoldTransport(transport, **choices)
            http: Any = httpx2.Client(transport=refold)
            client: Any = openai.OpenAI(api_key="k", http_client=http)
        else:
            refold = AsyncRefoldTransport(transport, **choices)
            http = httpx2.AsyncClient(transport=refold)
            client = openai.AsyncOpenAI(api_key="k", http_client=http)
        loop = self._chat if self.api == "chat" else self._responses
        asyncio.run(loop(client, refold, history, mode))
        key = "messages" if self.api == "chat" else "input"
        tools = self.server.bodies[-1]["tools"]
        names = [tool.get("name") or tool["function"]["name"] for tool in tools]
        requests = [body[key] for body in self.server.bodies]
        return Talk(requests, [text_of(message) for message in history], names)

    async def _chat(self, client: Any, refold: Any, history: list[Any], mode: Mode) -> None:
        function = {"name": "read", "description": "Read a log.", "parameters": PARAMETERS}
        tools = [{"type": "function", "function": function}, refold.tool]
        while True:
            before = copy.deepcopy(history)
            request = {"model": "gpt-5", "messages": history, "tools": tools}
            if mode == "sync":
                answer = client.chat.completions.create(**request).choices[0].message
            elif mode == "async":
                answer = (await client.chat.completions.create(**request)).choices[0].message
            else:
                stream = await client.chat.completions.create(**request, stream=True)
                answer, *_ = [chunk.choices[0].delta async for chunk in stream]
            assert history == before, "the caller's list was touched"
            message = answer.model_dump(exclude_none=True)
            for call in message.get("tool_calls", ()):
                call.pop("index", None)
            history.append(message)
            if not answer.tool_calls:
                return
            for call in answer.tool_calls:
                said = self._call(call.function, refold, history)
                history.append({"role": "tool", "tool_call_id": call.id, "content": said})

    async def _responses(self, client: Any, refold: Any, history: list[Any], mode: Mode) -> None:
        read = {"type": "function", "name": "read", "parameters": PARAMETERS, "strict": False}
        while True:
            request = {"model": "gpt-5", "input": history, "tools": [read, refold.responses_tool]}
            if mode == "sync":
                answer = client.responses.create(**request)
            else:
                answer = await client.responses.create(**request)
            items = [item.model_dump(exclude_none=True) for item in answer.output]
            history.extend(items)
            calls = [item for item in answer.output if item.type == "function_call"]
            if not calls:
                return
            for call in calls:
                said = self._call(call, refold, history)
                kind = "function_call_output"
                history.append({"type": kind, "call_id": call.call_id, "output": said})

    def _call(self, call: Any, refold: Any, history: list[Any]) -> str:
        if call.name == "read":
            return log_of(json.loads(call.arguments)["n"])
        said: str = refold.retrieve(call.arguments, history)
        return said

    def test_thinking(self) -> None:
        """Reasoning items stay in front of what follows them, as they were."""
        self.api = "responses"
        talk = self.run(Brain(thinks=True))
        seen = 0
        for request in talk.requests:
            kinds = [item.get("type") for item in request]
            for place, kind in enumerate(kinds):
                if kind == "reasoning":
                    seen += 1
                    assert kinds[place + 1] == "function_call"
                    assert request[place]["encrypted_content"].startswith("I look")
        assert seen

    @pytest.mark.parametrize("mode", ["sync", "async"])
    def test_responses(self, mode: Any) -> None:
        self.api = "responses"
        brain = Brain()
        self.check(brain, self.run(brain, mode))

    def test_responses_can_fetch_originals(self) -> None:
        self.api = "responses"
        self.test_retrieval()

    def test_a_history_on_the_server_is_left_alone(self, caplog: Any) -> None:
        server = Server(Brain())
        refold = RefoldTransport(
            httpx2.MockTransport(server), store=MemoryStore(), token_budget=100
        )
        client = openai.OpenAI(api_key="k", http_client=httpx2.Client(transport=refold))
        given: list[Any] = [{"type": "function_call_output", "call_id": "c0", "output": log_of(0)}]
        with caplog.at_level(logging.WARNING, "refold"):
            client.responses.create(model="gpt-5", input=given, previous_response_id="r")
        assert server.bodies[0]["input"] == given
        assert "the server holds the history" in caplog.text
