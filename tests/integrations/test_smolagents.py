"""RefoldMemory in agents of smolagents, with a model that is a function."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("smolagents")

from smolagents import CodeAgent, LogLevel, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageStreamDelta,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    ChatMessageToolCallStreamDelta,
    MessageRole,
    Model,
    get_clean_message_list,
    tool_role_conversions,
)

from refold import MemoryStore
from refold.integrations.smolagents import RefoldMemory
from tests.integrations.contract import TASK, Act, Brain, Integration, Mode, Talk, log_of


class Scripted(Model):
    """Does what a `Brain` says, and keeps every request as it goes over the wire."""

    def __init__(self, brain: Brain, *, writes_code: bool = False) -> None:
        super().__init__(model_id="gpt-5")
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []
        self.writes_code = writes_code

    def act(self, messages: Any, tools: Any) -> Act:
        sent = get_clean_message_list(messages, role_conversions=tool_role_conversions)
        self.requests.append(sent)
        self.tools[:] = [each.name for each in tools or ()]
        return self.brain.act([text_of(m) for m in sent if m["role"] != "system"])

    def generate(
        self, messages: Any, stop_sequences: Any = None, tools_to_call_from: Any = None, **_: Any
    ) -> ChatMessage:
        act = self.act(messages, tools_to_call_from)
        if self.writes_code:
            return ChatMessage(role=MessageRole.ASSISTANT, content=f"<code>{code_of(act)}</code>")
        calls = [ChatMessageToolCall(function_of(act), f"c{len(self.requests)}", "function")]
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)

    def generate_stream(
        self, messages: Any, stop_sequences: Any = None, tools_to_call_from: Any = None, **_: Any
    ) -> Iterator[ChatMessageStreamDelta]:
        function = function_of(self.act(messages, tools_to_call_from))
        id_ = f"c{len(self.requests)}"
        delta = ChatMessageToolCallStreamDelta(0, id_, "function", function)
        yield ChatMessageStreamDelta(content="", tool_calls=[delta])


def function_of(act: Act) -> ChatMessageToolCallFunction:
    if isinstance(act, str):
        return ChatMessageToolCallFunction(json.dumps({"answer": act}), "final_answer")
    return ChatMessageToolCallFunction(json.dumps(act.arguments), act.name)


def code_of(act: Act) -> str:
    if isinstance(act, str):
        return f"final_answer({act!r})"
    given = ", ".join(f"{name}={value!r}" for name, value in act.arguments.items())
    return f"print({act.name}({given}))"


def text_of(message: Any) -> str:
    text = "".join(block.get("text", "") for block in message["content"])
    said = text.partition("\nCalling tools:")[0]  # which is an assistant's own text
    return said.removeprefix("New task:\n").removeprefix("Observation:\n")


@tool
def read(n: int) -> str:
    """Read a log.

    Args:
        n: its number
    """
    return log_of(n)


class TestSmolagents(Integration):
    test_async: Any = None  # the framework is synchronous throughout

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        model = Scripted(brain)
        given: dict[str, Any] = {"verbosity_level": LogLevel.OFF, "max_steps": 20}
        agent = ToolCallingAgent(
            tools=[read], model=model, stream_outputs=mode == "streaming", **given
        )
        RefoldMemory(**choices).attach(agent)
        agent.run(TASK)
        kept = [str(step.observations) for step in agent.memory.steps[1:]]
        return Talk(model.requests, kept, model.tools)

    def test_programs_are_folded_and_may_fetch_originals(self) -> None:
        brain = Brain(retrieves=True)
        model = Scripted(brain, writes_code=True)
        agent = CodeAgent(tools=[read], model=model, verbosity_level=LogLevel.OFF)
        refold = RefoldMemory(store=MemoryStore(), token_budget=6_000)
        refold.attach(agent).run(TASK)
        assert refold.last is not None
        assert refold.last.report.tokens < 6_000 < refold.last.report.tokens_unfolded / 4
        answers = [text for text in brain.seen[-1] if "[original " in text]
        assert len(answers) == 1
        assert log_of(3) in str(agent.memory.steps[4].observations)
