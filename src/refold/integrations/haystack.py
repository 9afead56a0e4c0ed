"""Haystack: `Agent(chat_generator=…, tools=[…, refold.tool], hooks=refold.hooks)`.

What is sent to the model is folded, and the state has every message as it was when the agent is
done. `RefoldHooks.tool` lets the model fetch originals.
"""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from refold.integrations import mirror
from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    from haystack.components.agents import State
    from haystack.components.agents.state import replace_values
    from haystack.core.serialization import default_from_dict, default_to_dict
    from haystack.dataclasses import ChatMessage, ReasoningContent, TextContent, ToolCall
    from haystack.dataclasses.chat_message import ToolCallResult
    from haystack.tools import Tool
except ImportError as error:
    raise missing("haystack-ai 3.4 or newer", "haystack") from error


def _block(piece: object) -> mirror.Block:
    match piece:
        case TextContent():
            return mirror.text(piece.text)
        case ReasoningContent():
            return mirror.thought(piece.reasoning_text)
        case ToolCall():
            return mirror.call(piece.id, piece.tool_name, piece.arguments)
        case ToolCallResult() if isinstance(piece.result, str):
            return mirror.result(piece.origin.id, piece.result)
    return mirror.other(type(piece).__name__)


def _piece(old: Any, text: str) -> Any:
    if isinstance(old, ToolCallResult):
        return ToolCallResult(result=text, origin=old.origin, error=old.error)
    return TextContent(text)


def _message(old: ChatMessage | None, role: str, pieces: list[Any]) -> ChatMessage:
    if old is None:
        text = pieces[0].text
        return ChatMessage.from_user(text) if role == "user" else ChatMessage.from_assistant(text)
    return ChatMessage(old.role, pieces, old.name, old.meta)


class RefoldHooks(Integration):
    """Folds before the calls of the model, and puts the originals back after the run."""

    _mirror: ClassVar = mirror.Mirror(
        lambda message: (message.role.value, message._content), _block, _piece, _message
    )
    _keeps_what_was_sent: ClassVar = True

    def __init__(self, **choices: Unpack[Choices]) -> None:
        super().__init__(**choices)
        self._choices = choices

    def run(self, state: State) -> None:
        """Put what the model needs of the messages into the *state*."""
        messages = mirror.originals_of(state.data["messages"])
        state.set("messages", self._fold(messages), handler_override=replace_values)

    async def run_async(self, state: State) -> None:
        """Do the same without blocking the event loop."""
        messages = await self._afold(mirror.originals_of(state.data["messages"]))
        state.set("messages", messages, handler_override=replace_values)

    def to_dict(self) -> dict[str, Any]:
        """Serialize the options, which must be plain values for that."""
        return default_to_dict(self, **self._choices)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RefoldHooks:
        """Make hooks from what `to_dict` returned."""
        made: RefoldHooks = default_from_dict(cls, data)
        return made

    @property
    def hooks(self) -> dict[Any, list[Any]]:
        """All that an agent needs as its hooks."""
        return {"before_llm": [self], "after_run": [_Restore()]}

    @property
    def tool(self) -> Tool:
        """Fetches originals of the conversation in which it is called."""
        return Tool(function=self.look_up, **describe_retrieve())


class _Restore:
    """Puts the originals back into the state."""

    def run(self, state: State) -> None:
        messages = mirror.originals_of(state.data["messages"])
        state.set("messages", messages, handler_override=replace_values)

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Any:
        return default_from_dict(cls, data)
