"""Strands Agents: `RefoldMiddleware().attach(agent)`.

`agent.messages` stays as it was; only what is sent is folded. The agent gets the retrieval tool.
"""

from __future__ import annotations

from typing import Any, Unpack

from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Conversations, Folded

try:
    from strands import Agent
    from strands.middleware import InvokeModelStage
    from strands.middleware.stages import InvokeModelContext
    from strands.tools.tools import PythonAgentTool
except ImportError as error:
    raise missing("strands-agents", "strands") from error


class RefoldMiddleware:
    """Folds what agents send to their models; one may serve many agents."""

    def __init__(self, **choices: Unpack[Choices]) -> None:
        self.conversations = Conversations(**choices)
        self.last: Folded | None = None
        """What was sent last, with its report."""
        self.tool = self._retrieve_tool()

    def attach(self, agent: Agent) -> Agent:
        """Fold what *agent* sends from now on, and give it the retrieval tool; return it."""
        agent.add_middleware(InvokeModelStage.Input, self)
        agent.tool_registry.process_tools([self.tool])
        return agent

    async def __call__(self, context: InvokeModelContext) -> InvokeModelContext:
        """Send what the model needs of the messages."""
        config: Any = context.model.get_config()
        model = config.get("model_id") if isinstance(config, dict) else None
        self.last = await self.conversations.afold(
            context.messages,
            model=model if isinstance(model, str) else None,
            format="bedrock",
            beside=[str(context.system_prompt or ""), context.tool_specs],
        )
        return context.replace(messages=self.last.messages)

    def _retrieve_tool(self) -> PythonAgentTool:
        described = self.conversations.tool().schema["function"]

        def retrieve(tool_use: Any, **state: Any) -> Any:
            agent = state.get("agent")
            messages = () if agent is None else agent.messages
            said = self.conversations.retrieve(tool_use["input"], messages=messages)
            return {
                "toolUseId": tool_use["toolUseId"],
                "status": "success",
                "content": [{"text": said}],
            }

        spec: Any = {
            "name": described["name"],
            "description": described["description"],
            "inputSchema": {"json": described["parameters"]},
        }
        return PythonAgentTool(described["name"], spec, retrieve)
