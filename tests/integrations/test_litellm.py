"""RefoldLogger among the callbacks of LiteLLM, with a provider that is a function."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("litellm")

import litellm
from litellm import CustomLLM, ModelResponse

from refold import MemoryStore
from refold.integrations.litellm import RefoldLogger
from tests.integrations.contract import TASK, Act, Brain, Integration, Mode, Talk, log_of

READ = {
    "type": "function",
    "function": {
        "name": "read",
        "description": "Read a log.",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
}


class Provider(CustomLLM):
    """Answers as a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        super().__init__()
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []

    def act(self, given: dict[str, Any]) -> Act:
        messages = given["messages"]
        self.requests.append(copy.deepcopy(messages))
        offered = given.get("optional_params", {}).get("tools", ())
        self.tools[:] = [tool["function"]["name"] for tool in offered]
        return self.brain.act([str(message.get("content") or "") for message in messages])

    def calls(self, act: Act) -> list[dict[str, Any]]:
        if isinstance(act, str):
            return []
        function = {"name": act.name, "arguments": json.dumps(act.arguments)}
        id_ = f"c{len(self.requests)}"
        return [{"id": id_, "type": "function", "function": function, "index": 0}]

    async def acompletion(self, *args: Any, **given: Any) -> ModelResponse:
        act = self.act(given)
        message = {"role": "assistant", "content": act if isinstance(act, str) else None}
        calls = self.calls(act)
        choice = {"message": {**message, "tool_calls": calls or None}, "finish_reason": "stop"}
        return ModelResponse(choices=[choice])

    async def astreaming(self, *args: Any, **given: Any) -> AsyncIterator[Any]:
        act = self.act(given)
        calls = self.calls(act)
        yield {
            "text": act if isinstance(act, str) else "",
            "tool_use": calls[0] if calls else None,
            "is_finished": True,
            "finish_reason": "tool_calls" if calls else "stop",
            "usage": None,
            "index": 0,
        }


class TestLiteLLM(Integration):
    test_sync: Any = None  # LiteLLM asks no callback before a synchronous completion

    def run(self, brain: Brain, mode: Mode = "async", **choices: Any) -> Talk:
        return super().run(brain, mode, **choices)

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        refold, provider = RefoldLogger(**choices), Provider(brain)
        history: list[Any] = [{"role": "user", "content": TASK}]
        before = litellm.callbacks, litellm.custom_provider_map
        litellm.callbacks = [refold]
        litellm.custom_provider_map = [{"provider": "scripted", "custom_handler": provider}]
        try:
            asyncio.run(self._loop(refold, history, mode))
        finally:
            litellm.callbacks, litellm.custom_provider_map = before
        texts = [str(message.get("content") or "") for message in history]
        return Talk(provider.requests, texts, provider.tools)

    async def _loop(self, refold: RefoldLogger, history: list[Any], mode: Mode) -> None:
        given = {"model": "scripted/gpt-5", "tools": [READ, refold.tool]}
        while True:
            kept = copy.deepcopy(history)
            if mode == "async":
                answer: Any = await litellm.acompletion(messages=history, **given)
            else:
                stream: Any = await litellm.acompletion(messages=history, stream=True, **given)
                chunks = [chunk async for chunk in stream]
                answer = litellm.stream_chunk_builder(chunks)
            assert history == kept, "the caller's list was touched"
            message = answer.choices[0].message
            history.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return
            for call in message.tool_calls:
                said = self._call(call.function, refold, history)
                history.append({"role": "tool", "tool_call_id": call.id, "content": said})

    def _call(self, function: Any, refold: RefoldLogger, history: list[Any]) -> str:
        if function.name == "read":
            return log_of(json.loads(function.arguments)["n"])
        return refold.retrieve(function.arguments, history)

    test_thinking: Any = None  # the providers' own shapes are tested with their SDKs

    def test_who_completes_synchronously_can_fold(self) -> None:
        refold = RefoldLogger(store=MemoryStore(), token_budget=500)
        function = {"name": "read", "arguments": '{"n": 0}'}
        call = {"id": "c0", "type": "function", "function": function}
        messages: list[Any] = [
            {"role": "user", "content": TASK},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c0", "content": log_of(0)},
        ]
        sent = refold.fold(messages, "gpt-5")
        assert len(str(sent)) < len(str(messages)) / 2
