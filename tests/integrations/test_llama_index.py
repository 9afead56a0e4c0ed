"""RefoldMemory of LlamaIndex: keeps every message, and hands out what the model needs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ThinkingBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool

from refold import MemoryStore
from refold.integrations.llama_index import RefoldMemory
from tests.integrations.contract import (
    BOUND,
    TASK,
    Brain,
    Call,
    Integration,
    Mode,
    Talk,
    check_thinking,
    log_of,
)


def text_of(message: ChatMessage) -> str:
    return message.content or ""


def message_of(call: Call, number: int) -> ChatMessage:
    thought = [ThinkingBlock(content=call.thought)] if call.thought else []
    use = ToolCallBlock(tool_call_id=f"c{number}", tool_name=call.name, tool_kwargs=call.arguments)
    return ChatMessage(role="assistant", blocks=[*thought, use])


class TestLlamaIndex(Integration):
    test_streaming: Any = None  # a memory is read before the model is called, however that answers

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        memory = RefoldMemory.of("s", **choices)
        requests: list[list[Any]] = []
        asyncio.run(self._loop(memory, brain, requests, mode))
        kept = asyncio.run(memory.aget_all())
        names = [str(memory.tool.metadata.name), "read"]
        return Talk(requests, [text_of(message) for message in kept], names)

    async def _loop(
        self, memory: RefoldMemory, brain: Brain, requests: list[Any], mode: Mode
    ) -> None:
        """Put into the memory what happens, and act on what it hands out."""
        await memory.aput(ChatMessage(role="user", content=TASK))
        while True:
            if mode == "sync":
                view = await asyncio.to_thread(memory.get)
            else:
                view = await memory.aget()
            requests.append(view)
            act = brain.act([text_of(message) for message in view])
            if isinstance(act, str):
                await memory.aput(ChatMessage(role="assistant", content=act))
                return
            if act.name == "read":
                said = log_of(act.arguments["n"])
            else:
                said = (await memory.tool.acall(**act.arguments)).content
            await memory.aput(message_of(act, len(requests)))
            beside = {"tool_call_id": f"c{len(requests)}"}
            await memory.aput(ChatMessage(role="tool", content=said, additional_kwargs=beside))

    @pytest.mark.parametrize("way", ["auto", "strip"])
    def test_thinking(self, way: Any) -> None:
        for budget in (3_000, 20_000):
            talk = self.run(Brain(thinks=True), model=BOUND, thinking=way, token_budget=budget)
            check_thinking([[_told(m) for m in request] for request in talk.requests])

    def test_an_agent_reads_what_earlier_runs_have_left(self) -> None:
        memory = RefoldMemory.of("s", store=MemoryStore(), token_budget=3_000)
        sent: list[Any] = []

        def answer(messages: Any, **_: Any) -> ChatMessage:
            sent.append(list(messages))
            if messages[-1].role == "tool":
                return ChatMessage(role="assistant", content="The disk is full.")
            call = Call("read", {"n": len(sent)})
            return message_of(call, len(sent))

        model = MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)

        def read(n: int) -> str:
            """Read a log."""
            return log_of(n)

        async def run() -> None:
            tools: list[Any] = [FunctionTool.from_defaults(fn=read), memory.tool]
            agent = FunctionAgent(llm=model, tools=tools, streaming=False)
            for _ in range(4):
                await agent.run(TASK, memory=memory)

        asyncio.run(run())
        kept = asyncio.run(memory.aget_all())
        assert sum(len(text_of(m)) for m in kept) > 4 * len(log_of(0))
        assert sum(len(text_of(m)) for m in sent[-2]) < 4 * 3_000


def _told(message: ChatMessage) -> tuple[str, Any]:
    thoughts = [b.content or "" for b in message.blocks if isinstance(b, ThinkingBlock)]
    return "".join(thoughts), (message.role, text_of(message))
