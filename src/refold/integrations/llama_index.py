"""LlamaIndex: `agent.run(question, memory=RefoldMemory.of(session_id=…))`.

A memory that keeps every message and returns what the model needs of them. Also give the agent
`memory.tool`, so that the model can fetch originals.
"""

from __future__ import annotations

from typing import Any, Final, Self, Unpack

from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Conversations, Folded, describe_retrieve

try:
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.memory import Memory
    from llama_index.core.tools import FunctionTool
except ImportError as error:
    raise missing("llama-index-core", "llama_index") from error

_NO_LIMIT: Final = 1_000_000_000
"""More tokens than any conversation has, so that nothing is ever moved out of the history."""


class RefoldMemory(Memory):
    """A `Memory` whose history is folded when it is read; what it keeps stays as it was."""

    _conversations: Conversations = PrivateAttr(default_factory=Conversations)
    _last: Folded | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, session_id: str | None = None, **choices: Unpack[Choices]) -> Self:
        """Make a memory with the options of every integration; *model* names the model."""
        memory = cls.from_defaults(session_id=session_id, token_limit=_NO_LIMIT)
        assert isinstance(memory, cls), "it is made by this class"
        memory._conversations = Conversations(**choices)
        return memory

    @property
    def last(self) -> Folded | None:
        """What was returned last, with its report."""
        return self._last

    async def aget(self, input: Any = None, **block_kwargs: Any) -> list[ChatMessage]:
        """Return what the model needs of the history and the memory blocks."""
        messages = await super().aget(input=input, **block_kwargs)
        self._last = await self._conversations.afold(
            messages, conversation=self.session_id, format="llama-index"
        )
        return self._last.messages

    @property
    def tool(self) -> FunctionTool:
        """Fetches originals of this memory; goes into the tools of the agent."""
        described = describe_retrieve()

        async def retrieve(query: str = "", handle: str = "", lines: str = "") -> str:
            asked = {"query": query, "handle": handle, "lines": lines}
            return await self._conversations.aretrieve(asked, conversation=self.session_id)

        return FunctionTool.from_defaults(
            async_fn=retrieve, name=described["name"], description=described["description"]
        )
