"""CrewAI: `Agent(llm=refold.attach(LLM(model=…)), tools=[…, refold.tool], …)`.

`refold = RefoldLLM()` folds what an LLM sends, whoever calls it; the messages of executors and
tasks stay as they were. The tool lets the model fetch originals.
"""

from __future__ import annotations

from typing import Any

from refold.integrations.choices import missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    from crewai import BaseLLM
    from crewai.context import get_current_task_id
    from crewai.tools import BaseTool
except ImportError as error:
    raise missing("crewai 1.0 or newer", "crewai") from error


class RefoldLLM(Integration):
    """Folds what LLMs send; one may serve a whole crew."""

    def attach(self, llm: BaseLLM) -> BaseLLM:
        """Fold what *llm* sends from now on; return it."""
        call, acall = llm.call, llm.acall

        def about(kwargs: dict[str, Any]) -> dict[str, Any]:
            tools = [tool for tool in kwargs.get("tools") or () if isinstance(tool, dict)]
            return {
                "model": llm.model,
                "conversation": get_current_task_id(),
                "format": "openai-chat",
                "beside": tools,
            }

        def folded_call(messages: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(messages, list):
                messages = self._fold(messages, **about(kwargs))
            return call(messages, *args, **kwargs)

        async def folded_acall(messages: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(messages, list):
                messages = await self._afold(messages, **about(kwargs))
            return await acall(messages, *args, **kwargs)

        # CrewAI's own hooks see the executor's list, which is what the task keeps.
        object.__setattr__(llm, "call", folded_call)
        object.__setattr__(llm, "acall", folded_acall)
        return llm

    @property
    def tool(self) -> BaseTool:
        """Fetches originals; goes into the tools of an agent."""
        described, retrieve = describe_retrieve(), self.conversations.retrieve

        class Retrieve(BaseTool):
            name: str = described["name"]
            description: str = described["description"]

            def _run(self, query: str = "", handle: str = "", lines: str = "") -> str:
                asked = {"query": query, "handle": handle, "lines": lines}
                return retrieve(asked, conversation=get_current_task_id())

        return Retrieve()
