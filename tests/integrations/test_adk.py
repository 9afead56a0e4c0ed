"""RefoldPlugin in apps of Google ADK, with a model that is a function."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from refold.integrations.adk import RefoldPlugin
from tests.integrations.contract import TASK, Brain, Integration, Mode, Talk, log_of


class ScriptedModel(BaseLlm):
    """Does what a `Brain` says, and keeps every request."""

    brain: Any
    requests: list[Any]
    tools: list[str]

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        self.requests.append([c.model_copy(deep=True) for c in llm_request.contents])
        self.tools[:] = list(llm_request.tools_dict)
        act = self.brain.act([text_of(content) for content in llm_request.contents])
        if isinstance(act, str):
            part = types.Part(text=act)
        else:
            call = types.FunctionCall(name=act.name, args=act.arguments)
            signature = act.thought.encode() or None
            part = types.Part(function_call=call, thought_signature=signature)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def text_of(content: Any) -> str:
    said: list[str] = []
    for part in content.parts or ():
        if part.function_response is not None:
            said += map(str, part.function_response.response.values())
        said.append(part.text or "")
    return "".join(said)


def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


class TestADK(Integration):
    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        refold = RefoldPlugin(**choices)
        model = ScriptedModel(model="gemini-2.5-pro", brain=brain, requests=[], tools=[])
        agent = LlmAgent(name="helper", model=model, tools=[read, refold.tool])
        runner = InMemoryRunner(app=App(name="app", root_agent=agent, plugins=[refold]))
        service = runner.session_service
        session = asyncio.run(service.create_session(app_name="app", user_id="u"))
        message = types.Content(role="user", parts=[types.Part(text=TASK)])
        given: dict[str, Any] = {"user_id": "u", "session_id": session.id, "new_message": message}

        async def run() -> None:
            if mode == "streaming":
                given["run_config"] = RunConfig(streaming_mode=StreamingMode.SSE)
            async for _ in runner.run_async(**given):
                pass

        if mode == "sync":
            list(runner.run(**given))
        else:
            asyncio.run(run())
        kept = asyncio.run(service.get_session(app_name="app", user_id="u", session_id=session.id))
        assert kept is not None
        contents = [event.content for event in kept.events if event.content is not None]
        return Talk(model.requests, [text_of(c) for c in contents], model.tools)

    def test_thinking(self) -> None:
        """Signed parts stay as they were: Gemini refuses a call without its signature."""
        talk = self.run(Brain(thinks=True))
        parts = [part for content in talk.requests[-1] for part in content.parts]
        calls = [part for part in parts if part.function_call is not None]
        assert calls
        assert all(part.thought_signature.startswith(b"I look at") for part in calls)
