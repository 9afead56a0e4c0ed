"""RefoldCompression in agents of agno, with a model that is a function."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, ClassVar

import pytest

pytest.importorskip("agno.models.base")

from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse

from refold.integrations.agno import RefoldCompression
from tests.integrations.contract import TASK, Brain, Integration, Mode, Talk, log_of


class ScriptedModel(Model):
    """Does what a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        super().__init__(id="gpt-5", name="scripted", provider="scripted")
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.offered: list[str] = []
        self.thoughts: list[list[str]] = []

    def answer(self, messages: Any, tools: Any) -> ModelResponse:
        self.requests.append([message.model_copy() for message in messages])
        self.offered[:] = [tool["function"]["name"] for tool in tools or ()]
        self.thoughts.append([m.reasoning_content for m in messages if m.reasoning_content])
        texts = [str(m.get_content(use_compressed_content=True) or "") for m in messages]
        act = self.brain.act(texts)
        if isinstance(act, str):
            return ModelResponse(role="assistant", content=act)
        function = {"name": act.name, "arguments": json.dumps(act.arguments)}
        call = {"id": f"c{len(self.requests)}", "type": "function", "function": function}
        return ModelResponse(
            role="assistant", tool_calls=[call], reasoning_content=act.thought or None
        )

    def invoke(self, messages: Any, tools: Any = None, **_: Any) -> ModelResponse:
        return self.answer(messages, tools)

    async def ainvoke(self, messages: Any, tools: Any = None, **_: Any) -> ModelResponse:
        return self.answer(messages, tools)

    def invoke_stream(self, messages: Any, tools: Any = None, **_: Any) -> Iterator[ModelResponse]:
        yield self.answer(messages, tools)

    async def ainvoke_stream(
        self, messages: Any, tools: Any = None, **_: Any
    ) -> AsyncIterator[ModelResponse]:
        yield self.answer(messages, tools)

    def _parse_provider_response(self, response: Any, **_: Any) -> ModelResponse:
        return response

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        return response


def model_of(brain: Brain) -> ScriptedModel:
    return ScriptedModel(brain)


def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestAgno(Integration):
    is_whole: ClassVar = False

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        self.refold = RefoldCompression(**choices)
        self.model = model = model_of(brain)
        agent = Agent(
            model=model,
            tools=[read, self.refold.tool],
            compression_manager=self.refold,
            compress_tool_results=True,
            telemetry=False,
        )

        async def stream() -> None:
            async for _ in agent.arun(TASK, stream=True):
                pass

        if mode == "sync":
            agent.run(TASK)
        elif mode == "async":
            asyncio.run(agent.arun(TASK))
        else:
            asyncio.run(stream())
        history = [str(m.content or "") for m in model.requests[-1]]
        return Talk(model.requests, history, model.offered)

    def test_thinking(self) -> None:
        """Nothing that was sent changes, so thinking stays valid."""
        brain = Brain(thinks=True)
        self.run(brain, token_budget=3_000)
        for before, after in zip(brain.seen, brain.seen[1:], strict=False):
            assert after[: len(before)] == before
        assert self.model.thoughts[-1] == [f"I look at number {n}." for n in range(8)]
