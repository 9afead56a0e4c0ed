"""RefoldMiddleware in agents of LangChain, with a chat model that is a function."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.integrations.contract import (
    BOUND,
    TASK,
    TURNS,
    Act,
    Brain,
    Integration,
    Mode,
    Talk,
    check_thinking,
    log_of,
)

pytest.importorskip("langchain.agents.middleware")

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from refold import MemoryStore
from refold.integrations.langchain import RefoldMiddleware


class Model(BaseChatModel):
    """A chat model that does what a `Brain` says, and keeps every request."""

    brain: Any
    requests: list[Any]
    tools: list[str]
    model_name: str = "gpt-5"

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        self.tools[:] = [each.name for each in tools]
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        message = self._answer(messages)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(self, messages: Any, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        message = self._answer(messages)
        calls = [
            {"name": c["name"], "args": json.dumps(c["args"]), "id": c["id"], "index": 0}
            for c in message.tool_calls
        ]
        chunk = AIMessageChunk(content=message.content, tool_call_chunks=calls)
        yield ChatGenerationChunk(message=chunk)

    def _answer(self, messages: list[BaseMessage]) -> AIMessage:
        self.requests.append(list(messages))
        return answer_of(self.brain.act([text_of(m) for m in messages]), len(self.requests))


def model_of(brain: Brain) -> Model:
    return Model(brain=brain, requests=[], tools=[])


def text_of(message: BaseMessage) -> str:
    return message.content if isinstance(message.content, str) else message.text


def answer_of(act: Act, number: int) -> AIMessage:
    if isinstance(act, str):
        return AIMessage(act)
    calls = [{"name": act.name, "args": act.arguments, "id": f"c{number}"}]
    if not act.thought:
        return AIMessage("", tool_calls=calls)
    use = {"type": "tool_use", "id": f"c{number}", "name": act.name, "input": act.arguments}
    thought = {"type": "thinking", "thinking": act.thought, "signature": "c2ln"}
    return AIMessage([thought, use], tool_calls=calls)


@tool
def read(n: int) -> str:
    """Read a log."""
    return log_of(n)


async def drain(stream: AsyncIterator[Any]) -> None:
    async for _ in stream:
        pass


class TestLangChain(Integration):
    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        self.refold = RefoldMiddleware(**choices)
        model = model_of(brain)
        saver = InMemorySaver()
        agent = create_agent(model, [read], middleware=[self.refold], checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 100}
        given: Any = {"messages": [{"role": "user", "content": TASK}]}
        if mode == "sync":
            agent.invoke(given, config)
        elif mode == "async":
            asyncio.run(agent.ainvoke(given, config))
        else:
            asyncio.run(drain(agent.astream(given, config, stream_mode="messages")))
        kept = agent.get_state(config).values["messages"]
        return Talk(model.requests, [text_of(m) for m in kept], model.tools)

    @pytest.mark.parametrize("way", ["auto", "strip"])
    def test_thinking(self, way: Any) -> None:
        for budget in (3_000, 20_000):
            talk = self.run(Brain(thinks=True), model=BOUND, thinking=way, token_budget=budget)
            check_thinking([[_told(m) for m in request] for request in talk.requests])

    def test_messages_that_do_not_change_are_the_same_objects(self) -> None:
        talk = self.run(Brain(turns=2))
        first, *_, last = talk.requests
        assert last[0] is first[0]

    def test_a_second_question_in_the_same_thread_goes_on(self) -> None:
        refold, saver = RefoldMiddleware(store=MemoryStore(), token_budget=6_000), InMemorySaver()
        config: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": 100}
        sent: list[Any] = []
        for question in (TASK, "And now?"):
            model = model_of(Brain(turns=4))
            agent = create_agent(model, [read], middleware=[refold], checkpointer=saver)
            agent.invoke({"messages": [{"role": "user", "content": question}]}, config)
            sent.append([text_of(m) for m in model.requests[0 if sent else -1]])
        before, after = sent
        assert after[: len(before)] == before

    def test_it_works_in_deepagents(self) -> None:
        deepagents = pytest.importorskip("deepagents")
        brain = Brain()
        refold = RefoldMiddleware(store=MemoryStore(), token_budget=6_000)
        agent = deepagents.create_deep_agent(model_of(brain), [read], middleware=[refold])
        given = {"messages": [{"role": "user", "content": TASK}]}
        state = agent.invoke(given, {"recursion_limit": 200})
        kept = [text_of(message) for message in state["messages"]]
        assert all(log_of(n) in kept for n in range(TURNS))
        assert sum(map(len, brain.seen[-1])) < sum(map(len, kept)) / 2

    def test_threads_are_kept_apart(self) -> None:
        refold = RefoldMiddleware(store=MemoryStore(), token_budget=6_000)
        handles = {}
        for thread in ("1", "2"):
            model = model_of(Brain())
            agent = create_agent(model, [read], middleware=[refold])
            agent.invoke(
                {"messages": [{"role": "user", "content": f"{TASK} {thread}"}]},
                {"configurable": {"thread_id": thread}, "recursion_limit": 100},
            )
            text = next(t for t in map(text_of, model.requests[-1]) if "#" in t)
            handles[thread] = text[text.index("#") :].split("]")[0]
        own = refold.conversations.retrieve({"handle": handles["1"]}, conversation="1")
        other = refold.conversations.retrieve({"handle": handles["1"]}, conversation="2")
        assert own.startswith("[original")
        assert other.startswith("[there is no original")


def _told(message: BaseMessage) -> tuple[str, Any]:
    content = message.content
    blocks = content if isinstance(content, list) else [content]
    thoughts = [b["thinking"] for b in blocks if isinstance(b, dict) and b["type"] == "thinking"]
    return "".join(thoughts), (message.type, blocks)
