"""RefoldStrategy in agents of Microsoft's Agent Framework, with a client that is a function."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    tool,
)

from refold.integrations.agent_framework import RefoldStrategy
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


def contents_of(act: Act, number: int) -> list[Content]:
    if isinstance(act, str):
        return [Content.from_text(act)]
    thought = [Content.from_text_reasoning(text=act.thought)] if act.thought else []
    given = json.dumps(act.arguments)
    return [*thought, Content.from_function_call(f"c{number}", act.name, arguments=given)]


def text_of(message: Message) -> str:
    said = [
        content.text if content.type == "text" else content.result
        for content in message.contents
        if content.type in ("text", "function_result")
    ]
    return "".join(str(text or "") for text in said)


class Client(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Answers as a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        super().__init__()
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []

    def answer(self, messages: Any, options: Any) -> list[Content]:
        self.requests.append([copy.copy(message) for message in messages])
        self.tools[:] = [each.name for each in options.get("tools") or ()]
        act = self.brain.act([text_of(message) for message in messages])
        return contents_of(act, len(self.requests))

    def _inner_get_response(
        self, *, messages: Any, stream: bool, options: Any, **kwargs: Any
    ) -> Any:
        contents = self.answer(messages, options)

        async def updates() -> Any:
            yield ChatResponseUpdate(role="assistant", contents=contents)

        async def whole() -> ChatResponse[Any]:
            return ChatResponse(messages=[Message("assistant", contents)])

        return self._build_response_stream(updates()) if stream else whole()


@tool(approval_mode="never_require")
def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestAgentFramework(Integration):
    test_sync: Any = None  # the framework is asynchronous throughout

    def run(self, brain: Brain, mode: Mode = "async", **choices: Any) -> Talk:
        return super().run(brain, mode, **choices)

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        refold, client = RefoldStrategy(**choices), Client(brain)
        agent: Any = Agent(client=client, tools=[read, refold.tool], compaction_strategy=refold)

        async def run() -> Any:
            if mode == "async":
                return await agent.run(TASK)
            stream = agent.run(TASK, stream=True)
            async for _ in stream:
                pass
            return await stream.get_final_response()

        response = asyncio.run(run())
        kept = [TASK, *(text_of(message) for message in response.messages)]
        return Talk(client.requests, kept, client.tools)

    @pytest.mark.parametrize("way", ["auto", "strip"])
    def test_thinking(self, way: Any) -> None:
        for budget in (3_000, 20_000):
            talk = self.run(Brain(thinks=True), model=BOUND, thinking=way, token_budget=budget)
            check_thinking([[_told(m) for m in request] for request in talk.requests])


def _told(message: Message) -> tuple[str, Any]:
    thoughts = [c.text or "" for c in message.contents if c.type == "text_reasoning"]
    return "".join(thoughts), (str(message.role), text_of(message))
