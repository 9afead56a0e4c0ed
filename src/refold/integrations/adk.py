"""Google ADK: `App(name=…, root_agent=…, plugins=[RefoldPlugin()])`.

The events of a session stay as they were; only the contents of a request are folded. Give agents
`RefoldPlugin.tool` as well, so that the model can fetch originals.
"""

from __future__ import annotations

from typing import Any, Unpack

from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Conversations, Folded

try:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types
except ImportError as error:
    raise missing("google-adk", "adk") from error


class RefoldPlugin(BasePlugin):
    """Folds every request of the agents of an app."""

    def __init__(self, **choices: Unpack[Choices]) -> None:
        super().__init__(name="refold")
        self.conversations = Conversations(**choices)
        self.last: Folded | None = None
        """What was sent last, with its report."""
        self.tool = _RetrieveTool(self.conversations)
        """Fetches originals; goes into the tools of an agent."""

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Send what the model needs of the contents, which belong to the events of the session."""
        config = llm_request.config
        tools = [str(tool.description) for tool in llm_request.tools_dict.values()]
        self.last = await self.conversations.afold(
            llm_request.contents,
            model=llm_request.model,
            conversation=_name_of(callback_context),
            format="gemini",
            beside=[str(config.system_instruction or ""), *tools],
        )
        llm_request.contents = self.last.messages


class _RetrieveTool(BaseTool):
    """Fetches originals of the session in which it is called."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        described = conversations.tool().schema["function"]
        self._parameters = described["parameters"]
        super().__init__(name=described["name"], description=described["description"])

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._parameters,
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Answer a call."""
        name = _name_of(tool_context)
        return {"result": await self._conversations.aretrieve(args, conversation=name)}


def _name_of(context: Any) -> str:
    """Return a name for the conversation of one agent in a session of one user."""
    session = context.session
    return f"{session.app_name}/{session.user_id}/{session.id}/{context.agent_name}"
