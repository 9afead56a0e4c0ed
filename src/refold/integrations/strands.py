"""Strands Agents: `RefoldMiddleware().attach(agent)`.

`agent.messages` stays as it was; only what is sent is folded. The agent gets the retrieval tool.
"""

from __future__ import annotations

from typing import Any

from refold.integrations.choices import missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    from strands import Agent
    from strands.middleware import InvokeModelStage
    from strands.middleware.stages import InvokeModelContext
    from strands.tools.tools import PythonAgentTool
except ImportError as error:
    raise missing("strands-agents", "strands") from error


class RefoldMiddleware(Integration):
    """Folds what agents send to their models; one may serve many agents."""

    def attach(self, agent: Agent) -> Agent:
        """Fold what *agent* sends from now on, and give it the retrieval tool; return it."""
        agent.add_middleware(InvokeModelStage.Input, self)
        agent.tool_registry.process_tools([self.tool])
        return agent

    async def __call__(self, context: InvokeModelContext) -> InvokeModelContext:
        """Send what the model needs of the messages."""
        config: Any = context.model.get_config()
        model = config.get("model_id") if isinstance(config, dict) else None
        messages = await self._afold(
            context.messages,
            model=model if isinstance(model, str) else None,
            format="bedrock",
            beside=[str(context.system_prompt or ""), context.tool_specs],
        )
        return context.replace(messages=messages)

    @property
    def tool(self) -> PythonAgentTool:
        """Fetches originals; `attach` gives it to the agent."""

        def retrieve(tool_use: Any, **state: Any) -> Any:
            agent = state.get("agent")
            messages = () if agent is None else agent.messages
            answer = self.conversations.retrieve(tool_use["input"], messages=messages)
            return {
                "toolUseId": tool_use["toolUseId"],
                "status": "success",
                "content": [{"text": answer}],
            }

        spec: Any = describe_retrieve("inputSchema")
        spec["inputSchema"] = {"json": spec["inputSchema"]}
        return PythonAgentTool(spec["name"], spec, retrieve)
