"""OpenAI Agents SDK: `RunConfig(call_model_input_filter=RefoldFilter())`.

The session and the run's result keep every item as it was; only what is sent is folded. Also give
the agent `RefoldFilter.tool`, so that the model can fetch originals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from refold.integrations.choices import missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    from agents import FunctionTool
    from agents.run import CallModelData, ModelInputData
    from agents.tool_context import ToolContext
except ImportError as error:
    raise missing("openai-agents", "openai_agents") from error

_FORMAT: Final = "openai-responses"
_SERVER_HELD: Final = (
    "the server holds the history of this run (conversation_id or previous_response_id), so there "
    "is nothing to fold"
)


class RefoldFilter(Integration):
    """Folds the input of every model call of a run; one may serve many runs at once."""

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """Return what to send; unchanged items are the same objects."""
        sent = data.model_data
        if _is_held_by_server(sent.input):
            self._warn_once(_SERVER_HELD)
            return sent
        tools = [getattr(tool, "description", "") for tool in data.agent.tools]
        messages = await self._afold(
            sent.input,
            model=_name_of(data.agent.model),
            format=_FORMAT,
            beside=[sent.instructions, *tools],
        )
        return ModelInputData(input=messages, instructions=sent.instructions)

    @property
    def tool(self) -> FunctionTool:
        """Fetches originals; goes into the tools of the agent."""

        async def call(context: ToolContext[Any], arguments: str) -> str:
            del context  # the tool runs in the context of the run that called it
            return await self.conversations.aretrieve(arguments)

        return FunctionTool(
            on_invoke_tool=call,
            strict_json_schema=False,
            **describe_retrieve("params_json_schema"),
        )


def _name_of(model: object) -> str | None:
    name = model if isinstance(model, str) else getattr(model, "model", None)
    return name if isinstance(name, str) else None


def _is_held_by_server(items: Sequence[Any]) -> bool:
    """Return whether some items are results of calls that are missing."""
    ids = [(str(item.get("type")), item.get("call_id")) for item in items if "call_id" in item]
    called = {id_ for kind, id_ in ids if not kind.endswith("_output")}
    return any(kind.endswith("_output") and id_ not in called for kind, id_ in ids)
