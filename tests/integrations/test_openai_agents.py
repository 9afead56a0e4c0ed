"""RefoldFilter in runs of the OpenAI Agents SDK, with a model that is a function."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, ModelResponse, RunConfig, Runner, SQLiteSession, Usage, function_tool
from agents.models.interface import Model
from agents.run import CallModelData, ModelInputData
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)

from refold import MemoryStore, uncompress
from refold.integrations.openai_agents import RefoldFilter
from tests.integrations.contract import TASK, Act, Brain, Integration, Mode, Talk, log_of


class ScriptedModel(Model):
    """Does what a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []

    def answer(self, items: Any, tools: Any) -> list[Any]:
        items = [{"role": "user", "content": items}] if isinstance(items, str) else items
        self.requests.append(list(items))
        self.tools[:] = [tool.name for tool in tools]
        return output_of(self.brain.act([text_of(item) for item in items]), len(self.requests))

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        *args: Any,
        **_: Any,
    ) -> ModelResponse:
        return ModelResponse(self.answer(input, tools), Usage(), None)

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        tools: Any,
        *args: Any,
        **_: Any,
    ) -> AsyncIterator[Any]:
        response = Response(
            id="r",
            created_at=0,
            model="gpt-5",
            object="response",
            output=self.answer(input, tools),
            tool_choice="auto",
            tools=[],
            parallel_tool_calls=False,
        )
        yield ResponseCompletedEvent(
            response=response, sequence_number=0, type="response.completed"
        )


def model_of(brain: Brain) -> ScriptedModel:
    return ScriptedModel(brain)


def text_of(item: Any) -> str:
    said = item.get("content", item.get("output", ""))
    if isinstance(said, list):
        return "".join(str(block.get("text", "")) for block in said)
    return str(said or "")


def output_of(act: Act, number: int) -> list[Any]:
    if isinstance(act, str):
        text = ResponseOutputText(text=act, type="output_text", annotations=[])
        message: Any = ResponseOutputMessage(
            id=f"m{number}", content=[text], role="assistant", status="completed", type="message"
        )
        return [message]
    call = ResponseFunctionToolCall(
        arguments=json.dumps(act.arguments),
        call_id=f"c{number}",
        name=act.name,
        type="function_call",
    )
    if not act.thought:
        return [call]
    thought = ResponseReasoningItem(
        id=f"rs{number}", summary=[], type="reasoning", encrypted_content=act.thought
    )
    return [thought, call]


@function_tool
def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestOpenAIAgents(Integration):
    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        self.refold = RefoldFilter(**choices)
        self.model = model_of(brain)
        agent = Agent(name="a", model=self.model, tools=[read, self.refold.tool])
        config = RunConfig(call_model_input_filter=self.refold, tracing_disabled=True)
        session = SQLiteSession("1")
        given: dict[str, Any] = {"run_config": config, "session": session, "max_turns": 50}

        async def stream() -> None:
            async for _ in Runner.run_streamed(agent, TASK, **given).stream_events():
                pass

        if mode == "sync":
            Runner.run_sync(agent, TASK, **given)
        elif mode == "async":
            asyncio.run(Runner.run(agent, TASK, **given))
        else:
            asyncio.run(stream())
        self.kept = asyncio.run(session.get_items())
        session.close()
        return Talk(self.model.requests, [text_of(item) for item in self.kept], self.model.tools)

    def test_thinking(self) -> None:
        """Reasoning items stay in front of what follows them, as they were."""
        talk = self.run(Brain(thinks=True), model="gpt-5")
        kept = {item["id"]: item for item in self.kept if item.get("type") == "reasoning"}
        assert kept
        for request in talk.requests:
            kinds = [item.get("type") for item in request]
            for place, kind in enumerate(kinds):
                if kind == "reasoning":
                    assert kinds[place + 1] == "function_call"
                    assert request[place] == kept[request[place]["id"]]

    def test_items_that_do_not_change_are_the_same_objects(self) -> None:
        refold = RefoldFilter(store=MemoryStore(), token_budget=6_000)
        items: list[Any] = [{"role": "user", "content": TASK}]
        for n in range(4):
            call = {"type": "function_call", "call_id": f"c{n}", "name": "read", "arguments": "{}"}
            output = {"type": "function_call_output", "call_id": f"c{n}", "output": log_of(n)}
            items += [call, output]
        data: Any = CallModelData(ModelInputData(items, "Be brief."), Agent(name="a"), None)
        sent = asyncio.run(refold(data)).input
        assert sent != items
        assert all(any(one is other for other in items) for one in sent if one in items)
        folded = refold.last
        assert folded is not None
        store, name = refold.conversations.choices.store, folded.conversation
        assert uncompress(sent, store, conversation=name).messages == items

    def test_a_history_on_the_server_is_left_alone(self, caplog: Any) -> None:
        refold = RefoldFilter(store=MemoryStore(), token_budget=100)
        output = {"type": "function_call_output", "call_id": "c0", "output": log_of(0)}
        data: Any = CallModelData(ModelInputData([output], None), Agent(name="a"), None)
        with caplog.at_level(logging.WARNING, "refold"):
            assert asyncio.run(refold(data)) is data.model_data
        assert "the server holds the history" in caplog.text
