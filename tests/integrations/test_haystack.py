"""RefoldHooks in agents of Haystack, with a chat generator that is a function."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("haystack.hooks")

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ReasoningContent, StreamingChunk, ToolCall
from haystack.tools import create_tool_from_function

from refold.integrations.haystack import RefoldHooks
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


def message_of(act: Act, number: int) -> ChatMessage:
    if isinstance(act, str):
        return ChatMessage.from_assistant(act)
    call = ToolCall(act.name, act.arguments, id=f"c{number}")
    thought = ReasoningContent(act.thought) if act.thought else None
    return ChatMessage.from_assistant(tool_calls=[call], reasoning=thought)


def text_of(message: ChatMessage) -> str:
    results = [str(result.result) for result in message.tool_call_results]
    return "".join([message.text or "", *results])


@component
class Generator:
    """Answers as a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []

    def answer(self, messages: Any, tools: Any) -> dict[str, Any]:
        self.requests.append(list(messages))
        self.tools[:] = [tool.name for tool in tools or ()]
        act = self.brain.act([text_of(message) for message in messages])
        return {"replies": [message_of(act, len(self.requests))]}

    @component.output_types(replies=list[ChatMessage])
    def run(
        self, messages: list[ChatMessage], tools: Any = None, streaming_callback: Any = None
    ) -> dict[str, Any]:
        if streaming_callback is not None:
            streaming_callback(StreamingChunk(""))
        return self.answer(messages, tools)

    @component.output_types(replies=list[ChatMessage])
    async def run_async(
        self, messages: list[ChatMessage], tools: Any = None, streaming_callback: Any = None
    ) -> dict[str, Any]:
        return self.answer(messages, tools)


def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestHaystack(Integration):
    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        generator, refold = Generator(brain), RefoldHooks(**choices)
        agent = Agent(
            chat_generator=generator,
            tools=[create_tool_from_function(read), refold.tool],
            hooks=refold.hooks,
            streaming_callback=(lambda chunk: None) if mode == "streaming" else None,
        )
        given: Any = {"messages": [ChatMessage.from_user(TASK)]}
        result = asyncio.run(agent.run_async(**given)) if mode == "async" else agent.run(**given)
        texts = [text_of(message) for message in result["messages"]]
        return Talk(generator.requests, texts, generator.tools)

    @pytest.mark.parametrize("way", ["auto", "strip"])
    def test_thinking(self, way: Any) -> None:
        for budget in (3_000, 10_000):
            talk = self.run(Brain(thinks=True), model=BOUND, thinking=way, token_budget=budget)
            check_thinking([[_told(m) for m in request] for request in talk.requests])

    def test_it_can_be_written_down(self, tmp_path: Any) -> None:
        refold = RefoldHooks(store=str(tmp_path / "refold.db"), profile="lossless")
        again = RefoldHooks.from_dict(refold.to_dict())
        assert again.to_dict() == refold.to_dict()


def _told(message: ChatMessage) -> tuple[str, Any]:
    thought = message.reasoning.reasoning_text if message.reasoning else ""
    return thought, (message.role.value, text_of(message))
