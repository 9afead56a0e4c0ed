"""Google ADK: `App(name=…, root_agent=…, plugins=[RefoldPlugin()])`.

The events of a session stay as they were; only the contents of requests are folded. Also give the
agents `RefoldPlugin.tool`, so that the model can fetch originals.
"""

from __future__ import annotations

from typing import Any, Unpack

from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Conversations, Integration, describe_retrieve

try:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.models.llm_request import LlmRequest
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types
except ImportError as error:
    raise missing("google-adk", "adk") from error


class RefoldPlugin(BasePlugin, Integration):
    """Folds every request of the agents of an app."""

    def __init__(self, **choices: Unpack[Choices]) -> None:
        BasePlugin.__init__(self, name="refold")
        Integration.__init__(self, **choices)
        self.tool = _RetrieveTool(self.conversations)
        """Fetches originals; goes into the tools of an agent."""

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> None:
        """Replace the contents of the request by what the model needs of them."""
        config = llm_request.config
        tools = [str(tool.description) for tool in llm_request.tools_dict.values()]
        llm_request.contents = await self._afold(
            llm_request.contents,
            model=llm_request.model,
            conversation=_name_of(callback_context),
            format="gemini",
            beside=[str(config.system_instruction or ""), *tools],
        )


class _RetrieveTool(BaseTool):
    """Fetches originals of the session in which it is called."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        self._described = describe_retrieve("parameters_json_schema")
        super().__init__(name=self._described["name"], description=self._described["description"])

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(**self._described)

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        """Answer a call."""
        name = _name_of(tool_context)
        return {"result": await self._conversations.aretrieve(args, conversation=name)}


def _name_of(context: Any) -> str:
    """Return a name for the conversation of one agent in a session of one user."""
    session = context.session
    return f"{session.app_name}/{session.user_id}/{session.id}/{context.agent_name}"
