"""The Refold capability in agents of pydantic-ai, with a `FunctionModel`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pydantic_ai.capabilities")

from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from refold import MemoryStore, uncompress
from refold.integrations.pydantic_ai import Refold, RefoldCompaction
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


def texts_of(messages: list[Any]) -> list[str]:
    parts = [part for message in messages for part in message.parts]
    return [str(part.content) for part in parts if hasattr(part, "content")]


def answer_of(act: Act, number: int) -> ModelResponse:
    if isinstance(act, str):
        return ModelResponse(parts=[TextPart(act)])
    thought = [ThinkingPart(act.thought, signature="c2ln")] if act.thought else []
    return ModelResponse(parts=[*thought, ToolCallPart(act.name, act.arguments, f"c{number}")])


class ScriptedModel(FunctionModel):
    """Does what a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []
        super().__init__(self.answer, stream_function=self.stream)

    def act(self, messages: list[Any], info: AgentInfo) -> Act:
        self.requests.append(messages)
        self.tools[:] = [tool.name for tool in info.function_tools]
        return self.brain.act(texts_of(messages))

    def answer(self, messages: list[Any], info: AgentInfo) -> ModelResponse:
        return answer_of(self.act(messages, info), len(self.requests))

    async def stream(self, messages: list[Any], info: AgentInfo) -> AsyncIterator[Any]:
        act = self.act(messages, info)
        if isinstance(act, str):
            yield act
            return
        given = json.dumps(act.arguments)
        yield {0: DeltaToolCall(act.name, given, tool_call_id=f"c{len(self.requests)}")}


def model_of(brain: Brain) -> ScriptedModel:
    return ScriptedModel(brain)


def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestPydanticAI(Integration):
    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        model = model_of(brain)
        agent = Agent(model, tools=[read], capabilities=[Refold(**choices)])

        async def run_stream() -> Any:
            async with agent.run_stream(TASK) as result:
                await result.get_output()
                return result

        result: Any
        if mode == "sync":
            result = agent.run_sync(TASK)
        elif mode == "async":
            result = asyncio.run(agent.run(TASK))
        else:
            result = asyncio.run(run_stream())
        history = result.all_messages()
        ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
        for request in model.requests:  # what was sent can be spelled and read as well
            ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(request))
        return Talk(model.requests, texts_of(history), model.tools)

    @pytest.mark.parametrize("way", ["auto", "strip"])
    def test_thinking(self, way: Any) -> None:
        for budget in (3_000, 20_000):
            talk = self.run(Brain(thinks=True), model=BOUND, thinking=way, token_budget=budget)
            check_thinking([[_told(m) for m in request] for request in talk.requests])

    def test_a_strategy_of_the_harness_changes_the_history(self) -> None:
        store = MemoryStore()
        strategy = RefoldCompaction(store=store, token_budget=1_500)
        history: list[Any] = [ModelRequest(parts=[UserPromptPart(TASK)])]
        for n in range(4):
            history.append(ModelResponse(parts=[ToolCallPart("read", {"n": n}, f"c{n}")]))
            history.append(ModelRequest(parts=[ToolReturnPart("read", log_of(n), f"c{n}")]))
        model = SimpleNamespace(model_name="gpt-5")
        context: Any = SimpleNamespace(model=model, conversation_id="c")
        folded = asyncio.run(strategy.compact(history, context))
        assert sum(map(len, texts_of(folded))) < sum(map(len, texts_of(history))) / 4
        assert uncompress(folded, store, conversation="c").messages == history


def _told(message: Any) -> tuple[str, Any]:
    thoughts = [part.content for part in message.parts if isinstance(part, ThinkingPart)]
    kept = [part for part in message.parts if not isinstance(part, ToolCallPart)]
    return "".join(thoughts), [str(getattr(part, "content", "")) for part in kept]
