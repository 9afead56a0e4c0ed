"""RefoldLLM in agents of CrewAI, with an LLM that is a function."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from refold.integrations.crewai import RefoldLLM
from tests.integrations.contract import TASK, Brain, Integration, Mode, Talk, log_of


class Scripted(BaseLLM):
    """Does what a `Brain` says, and keeps every request."""

    brain: Any
    requests: Any
    tools: Any

    def call(self, messages: Any, tools: Any = None, **_: Any) -> Any:
        self.requests.append(list(messages))
        self.tools[:] = [each["function"]["name"] for each in tools or ()]
        texts = [text_of(message) for message in messages if message["role"] != "system"]
        act = self.brain.act(texts)
        if isinstance(act, str):
            return act
        function = {"name": act.name, "arguments": json.dumps(act.arguments)}
        return [{"id": f"c{len(self.requests)}", "type": "function", "function": function}]

    def get_context_window_size(self) -> int:
        return 400_000

    async def acall(self, messages: Any, tools: Any = None, **given: Any) -> Any:
        return self.call(messages, tools, **given)

    def supports_function_calling(self) -> bool:
        return True


def text_of(message: Any) -> str:
    text = message.get("content") or ""
    return text[text.index(TASK) :] if TASK in text else text


@tool
def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestCrewAI(Integration):
    test_streaming: Any = None  # what is streamed is the LLM's own business

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        refold, llm = (
            RefoldLLM(**choices),
            Scripted(model="gpt-5", brain=brain, requests=[], tools=[]),
        )
        agent = Agent(
            role="helper",
            goal="to help",
            backstory="none",
            llm=refold.attach(llm),
            tools=[read, refold.tool],
        )
        task = Task(description=TASK, expected_output="the cause", agent=agent)
        crew = Crew(agents=[agent], tasks=[task])
        output = asyncio.run(crew.akickoff()) if mode == "async" else crew.kickoff()
        kept = [text_of(message) for message in output.tasks_output[0].messages]
        return Talk(llm.requests, kept, llm.tools)
