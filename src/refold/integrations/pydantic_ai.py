"""pydantic-ai: `Agent(model, capabilities=[Refold()])`.

Only the request is folded: `all_messages()` has every message as it was. `RefoldCompaction` does
the same as a compaction strategy of pydantic-ai-harness; those do change the history.
"""

from __future__ import annotations

from typing import Any, Final, Unpack

from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Conversations, Integration, describe_retrieve

try:
    from pydantic_ai import RunContext, Tool
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.toolsets import FunctionToolset
except ImportError as error:
    raise missing("pydantic-ai 2.0 or newer", "pydantic_ai") from error

_FORMAT: Final = "pydantic-ai"
_HAS_PREPARE: Final = hasattr(AbstractCapability, "prepare_model_request")
"""Since 2.66 there is a hook that knows the model of the request."""


class Refold(Integration, AbstractCapability[Any]):
    """Folds every request of an agent, and brings the tool that fetches originals."""

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Send what the model needs of the messages."""
        parameters = request_context.model_request_parameters
        instructions = getattr(parameters, "instruction_parts", None) or ()
        request_context.messages = await self._afold(
            request_context.messages,
            model=request_context.model.model_name,
            conversation=ctx.conversation_id,
            format=_FORMAT,
            beside=[
                *(part.content for part in instructions),
                *(tool.description for tool in parameters.function_tools),
            ],
        )
        return request_context

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Do the same in versions that have no later hook."""
        if _HAS_PREPARE:
            return request_context
        return await self.prepare_model_request(ctx, request_context)

    def get_toolset(self) -> FunctionToolset[Any]:
        """Return the tool that fetches originals."""

        async def retrieve(ctx: RunContext[Any], **arguments: Any) -> str:
            return await self.conversations.aretrieve(
                arguments, messages=ctx.messages, conversation=ctx.conversation_id
            )

        tool = Tool.from_schema(retrieve, takes_ctx=True, **describe_retrieve("json_schema"))
        return FunctionToolset([tool])


class RefoldCompaction:
    """A compaction strategy for pydantic-ai-harness, alone or as a tier of `TieredCompaction`.

    What it returns takes the place of the history; `uncompress` with the store undoes that.
    """

    def __init__(self, **choices: Unpack[Choices]) -> None:
        self.conversations = Conversations(**choices)

    async def compact(
        self, messages: list[ModelMessage], ctx: RunContext[Any]
    ) -> list[ModelMessage]:
        """Return the messages to send."""
        model, conversation = ctx.model.model_name, ctx.conversation_id
        folded = await self.conversations.afold(
            messages, model=model, conversation=conversation, format=_FORMAT
        )
        return folded.messages
