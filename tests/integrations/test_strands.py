"""RefoldMiddleware in Strands agents, with a model that is a function."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("strands.middleware")

from strands import Agent, tool
from strands.models import Model

from refold.integrations.strands import RefoldMiddleware
from tests.integrations.contract import (
    BOUND,
    TASK,
    Brain,
    Integration,
    Mode,
    Talk,
    check_thinking,
    log_of,
)


class ScriptedModel(Model):
    """Does what a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []

    def update_config(self, **_: Any) -> None:
        pass

    def get_config(self) -> Any:
        return {"model_id": "gpt-5"}

    def structured_output(self, *args: Any, **_: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self, messages: Any, tool_specs: Any = None, *args: Any, **_: Any
    ) -> AsyncIterator[Any]:
        self.requests.append(copy.deepcopy(messages))
        self.tools[:] = [spec["name"] for spec in tool_specs or ()]
        act = self.brain.act([text_of(message) for message in messages])
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(act, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": act}}}
            yield {"contentBlockStop": {}}
            yield {"messageStop": {"stopReason": "end_turn"}}
            return
        if act.thought:
            yield {"contentBlockStart": {"start": {}}}
            for delta in ({"text": act.thought}, {"signature": "c2ln"}):
                yield {"contentBlockDelta": {"delta": {"reasoningContent": delta}}}
            yield {"contentBlockStop": {}}
        use = {"name": act.name, "toolUseId": f"c{len(self.requests)}"}
        yield {"contentBlockStart": {"start": {"toolUse": use}}}
        spelled = {"toolUse": {"input": json.dumps(act.arguments)}}
        yield {"contentBlockDelta": {"delta": spelled}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


def text_of(message: Any) -> str:
    said: list[str] = []
    for block in message["content"]:
        said.append(block.get("text", ""))
        said += [b.get("text", "") for b in block.get("toolResult", {}).get("content", ())]
    return "".join(said)


@tool
def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestStrands(Integration):
    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        model = ScriptedModel(brain)
        agent = Agent(model=model, tools=[read], callback_handler=None)
        RefoldMiddleware(**choices).attach(agent)

        async def stream() -> None:
            async for _ in agent.stream_async(TASK):
                pass

        if mode == "sync":
            agent(TASK)
        elif mode == "async":
            asyncio.run(agent.invoke_async(TASK))
        else:
            asyncio.run(stream())
        return Talk(model.requests, [text_of(m) for m in agent.messages], model.tools)

    @pytest.mark.parametrize("way", ["auto", "strip"])
    def test_thinking(self, way: Any) -> None:
        for budget in (3_000, 20_000):
            talk = self.run(Brain(thinks=True), model=BOUND, thinking=way, token_budget=budget)
            check_thinking([[_told(m) for m in request] for request in talk.requests])


def _told(message: Any) -> tuple[str, Any]:
    blocks = message["content"]
    thoughts = [
        block["reasoningContent"]["reasoningText"]["text"]
        for block in blocks
        if "reasoningContent" in block
    ]
    return "".join(thoughts), blocks
