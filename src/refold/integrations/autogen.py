"""AutoGen: `AssistantAgent(…, model_context=RefoldContext(), tools=[…, context.tool])`.

The context keeps every message and returns what the model needs of them; `tool` lets it fetch
originals. For AG2, which goes on from AutoGen, see `refold.integrations.ag2`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from refold.integrations import mirror
from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    from autogen_core import FunctionCall
    from autogen_core.model_context import ChatCompletionContext
    from autogen_core.models import (
        AssistantMessage,
        FunctionExecutionResult,
        SystemMessage,
        UserMessage,
    )
    from autogen_core.tools import FunctionTool
except ImportError as error:
    raise missing("autogen-core", "autogen") from error

_ROLES = {SystemMessage: "system", AssistantMessage: "assistant"}


def _read(message: Any) -> tuple[str, list[Any]]:
    thought = getattr(message, "thought", None)
    content = message.content if isinstance(message.content, list) else [message.content]
    pieces = [("thought", thought), *content] if thought else content
    return _ROLES.get(type(message), "user"), pieces


def _block(piece: Any) -> mirror.Block:
    match piece:
        case str():
            return mirror.text(piece)
        case FunctionCall():
            return mirror.call(piece.id, piece.name, piece.arguments)
        case FunctionExecutionResult():
            return mirror.result(piece.call_id, piece.content)
        case ("thought", str(words)):
            return mirror.other(words)  # also what was said beside calls, which is not thinking
    return mirror.other(type(piece).__name__)


def _piece(old: Any, text: str) -> Any:
    if isinstance(old, FunctionExecutionResult):
        return old.model_copy(update={"content": text})
    return text


def _message(old: Any, role: str, pieces: list[Any]) -> Any:
    content = [piece for piece in pieces if not isinstance(piece, tuple)]
    whole = content if any(not isinstance(piece, str) for piece in content) else "\n".join(content)
    if old is not None:
        return old.model_copy(update={"content": whole})
    made = UserMessage if role == "user" else AssistantMessage
    return made(content=whole, source="refold")


class RefoldContext(Integration, ChatCompletionContext):
    """A model context whose messages are folded when they are read; one for each agent."""

    component_type = "chat_completion_context"
    _mirror: ClassVar = mirror.Mirror(_read, _block, _piece, _message)

    def __init__(
        self, initial_messages: list[Any] | None = None, **choices: Unpack[Choices]
    ) -> None:
        Integration.__init__(self, **choices)
        ChatCompletionContext.__init__(self, initial_messages)

    async def get_messages(self) -> list[Any]:
        """Return what the model needs of the messages."""
        return await self._afold(self._messages)

    @property
    def tool(self) -> FunctionTool:
        """Fetches originals of this context; goes into the tools of the agent."""
        described = describe_retrieve()
        return FunctionTool(self.alook_up, described["description"], name=described["name"])
