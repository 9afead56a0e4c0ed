"""RefoldContext in agents of AutoGen, with a client that is a function."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("autogen_agentchat")

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, ModelFamily, RequestUsage

from refold.integrations.autogen import RefoldContext
from tests.integrations.contract import TASK, Brain, Integration, Mode, Talk, log_of


class Client(ChatCompletionClient):
    """Answers as a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []

    async def create(self, messages: Any, *, tools: Any = (), **_: Any) -> CreateResult:
        self.requests.append(list(messages))
        self.tools[:] = [each["name"] for each in tools]
        act = self.brain.act([text_of(message) for message in messages])
        content: Any = act
        if not isinstance(act, str):
            spelled = json.dumps(act.arguments)
            content = [FunctionCall(f"c{len(self.requests)}", spelled, act.name)]
        return CreateResult(
            finish_reason="stop" if isinstance(act, str) else "function_calls",
            content=content,
            usage=self.total_usage(),
            cached=False,
            thought="I look." if isinstance(content, list) else None,
        )

    async def create_stream(self, messages: Any, **given: Any) -> AsyncGenerator[Any, None]:
        yield await self.create(messages, **given)

    async def close(self) -> None:
        pass

    def actual_usage(self) -> RequestUsage:
        return RequestUsage(0, 0)

    total_usage = actual_usage

    def count_tokens(self, messages: Any, **_: Any) -> int:
        return 0

    remaining_tokens = count_tokens

    @property
    def capabilities(self) -> Any:
        return self.model_info

    @property
    def model_info(self) -> Any:
        return {
            "vision": False,
            "function_calling": True,
            "json_output": False,
            "structured_output": False,
            "family": ModelFamily.UNKNOWN,
        }


def text_of(message: Any) -> str:
    if isinstance(message.content, str):
        return message.content
    return "".join(getattr(piece, "content", "") for piece in message.content)


def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestAutoGen(Integration):
    test_sync: Any = None  # the framework is asynchronous throughout

    def run(self, brain: Brain, mode: Mode = "async", **choices: Any) -> Talk:
        return super().run(brain, mode, **choices)

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        client, context = Client(brain), RefoldContext(**choices)
        agent = AssistantAgent(
            "helper",
            client,
            tools=[read, context.tool],
            model_context=context,
            system_message=None,
            max_tool_iterations=20,
            model_client_stream=mode == "streaming",
        )

        async def run() -> Any:
            async for _ in agent.run_stream(task=TASK):
                pass
            return await context.save_state()

        state = asyncio.run(run())
        kept = [
            piece["content"] if isinstance(piece, dict) and "content" in piece else str(piece)
            for message in state["messages"]
            for piece in (
                message["content"] if isinstance(message["content"], list) else [message["content"]]
            )
        ]
        return Talk(client.requests, kept, client.tools)
