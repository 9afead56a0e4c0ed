"""RefoldMiddleware in agents of AG2, with a client that is a function."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("ag2")

from ag2 import Agent, TextInput
from ag2.events import ModelMessage, ModelResponse, ToolCallEvent, ToolCallsEvent, ToolResultsEvent

from refold.integrations.ag2 import RefoldMiddleware
from tests.integrations.contract import TASK, Brain, Integration, Mode, Talk, log_of


class Config:
    """Answers as a `Brain` says, and keeps every request; it is its own client."""

    provider: Any = "test"
    model = "gpt-5"

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []

    def copy(self) -> Config:
        return self

    create = copy

    async def __call__(
        self, messages: Any, context: Any, *, tools: Any = (), **_: Any
    ) -> ModelResponse:
        self.requests.append(list(messages))
        self.tools[:] = [each.function.name for each in tools]
        act = self.brain.act([text_of(message) for message in messages])
        if isinstance(act, str):
            message = ModelMessage(act)
            await context.send(message)
            return ModelResponse(message)
        call = ToolCallEvent(
            act.name, id=f"c{len(self.requests)}", arguments=json.dumps(act.arguments)
        )
        return ModelResponse(tool_calls=ToolCallsEvent([call]))


def text_of(event: Any) -> str:
    if isinstance(event, ModelResponse):
        return event.content or ""
    results = event.results if isinstance(event, ToolResultsEvent) else ()
    parts = [part for result in results for part in result.result.parts]
    parts += getattr(event, "parts", ())
    return "".join(part.content for part in parts if isinstance(part, TextInput))


def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestAG2(Integration):
    test_sync: Any = None  # the framework is asynchronous throughout

    def run(self, brain: Brain, mode: Mode = "async", **choices: Any) -> Talk:
        return super().run(brain, mode, **choices)

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        config, refold = Config(brain), RefoldMiddleware(**choices)
        agent = Agent("helper", config=config, tools=[read, refold.tool], middleware=[refold])

        async def run() -> list[Any]:
            async with agent.run(TASK) as turn:
                if mode == "streaming":
                    turn.start()
                reply = await turn.result()
            return [*await reply.context.stream.history.get_events()]

        events = asyncio.run(run())
        return Talk(config.requests, [text_of(event) for event in events], config.tools)
