"""Haystack: `CompactionHook(RefoldCompactor(), context_window=…)` among the hooks of an `Agent`.

The hook decides when, the compactor how. Haystack puts what a compactor returns into the state of
the agent, so the history does change there; originals are in the store. Also give the agent
`RefoldCompactor.tool`, so that the model can fetch them.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Final, Unpack

from refold.api import Compressor, compress
from refold.errors import RefoldError, describe
from refold.integrations import mirror
from refold.integrations.choices import CheckedChoices, Choices, missing
from refold.integrations.conversations import RETRIEVE, describe_retrieve
from refold.result import Result
from refold.tools.retrieve import retrieve_tool

try:
    from haystack.core.serialization import default_from_dict, default_to_dict
    from haystack.dataclasses import ChatMessage, ReasoningContent, TextContent, ToolCall
    from haystack.dataclasses.chat_message import ToolCallResult
    from haystack.token_counters import TokenCounter
    from haystack.tools import Tool
except ImportError as error:
    raise missing("haystack-ai 3.4 or newer", "haystack") from error

_log: Final = logging.getLogger("refold.integrations")


class RefoldCompactor:
    """A `Compactor` for `CompactionHook`; one may serve many agents.

    The hook says how many tokens are wanted, so `token_budget` has no effect.
    """

    def __init__(self, **choices: Unpack[Choices]) -> None:
        self._choices = choices
        self._checked = CheckedChoices(choices, same_count=True)
        # Rejects options that have no effect under a budget, or only in sessions.
        Compressor(self._checked.options, token_budget=0)
        self.last: Result | None = None
        """The result of the last call."""

    def compact(
        self, messages: list[ChatMessage], target_tokens: int, token_counter: TokenCounter
    ) -> list[ChatMessage] | None:
        """Return messages that take fewer tokens; `None` if nothing can be saved."""
        del token_counter  # the engine has to count texts that are not messages
        mirrored = [_mirror(message) for message in messages]
        try:
            self.last = compress(
                mirrored,
                options=self._checked.options,
                store=self._checked.store,
                token_budget=target_tokens,
                format=mirror.FORMAT,
            )
        except RefoldError as error:
            _log.error("left as it is, because it cannot be folded: %s", describe(error))
            return None
        if self.last.first_changed == len(messages):
            return None
        folded = zip(messages, mirrored, self.last.messages, strict=True)
        return [
            one if after == before else _rewrite(one, before, after)
            for one, before, after in folded
        ]

    async def compact_async(
        self, messages: list[ChatMessage], target_tokens: int, token_counter: TokenCounter
    ) -> list[ChatMessage] | None:
        """Do the same without blocking the event loop."""
        return await asyncio.to_thread(self.compact, messages, target_tokens, token_counter)

    def to_dict(self) -> dict[str, Any]:
        """Serialize the options, which must be plain values for that."""
        return default_to_dict(self, **self._choices)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RefoldCompactor:
        """Make a compactor from what `to_dict` returned."""
        made: RefoldCompactor = default_from_dict(cls, data)
        return made

    @property
    def tool(self) -> Tool:
        """Fetches originals of the conversation in which it is called."""

        def retrieve(messages: list[ChatMessage], **arguments: Any) -> str:
            view = [_mirror(message) for message in messages]
            return retrieve_tool(self._checked.store, messages=view, name=RETRIEVE).call(arguments)

        return Tool(
            function=retrieve, inputs_from_state={"messages": "messages"}, **describe_retrieve()
        )


def _mirror(message: ChatMessage) -> dict[str, Any]:
    blocks = [_block(place, piece) for place, piece in enumerate(message._content)]
    return mirror.message(message.role.value, blocks)


def _block(place: int, piece: object) -> dict[str, Any]:
    match piece:
        case TextContent():
            return mirror.text(place, piece.text)
        case ReasoningContent():
            return mirror.thought(place, piece.reasoning_text)
        case ToolCall():
            return mirror.call(place, piece.id or "", piece.tool_name, piece.arguments)
        case ToolCallResult() if isinstance(piece.result, str):
            return mirror.result(place, piece.origin.id or "", piece.result)
    return mirror.other(place, type(piece).__name__)


def _rewrite(message: ChatMessage, before: Any, after: Any) -> ChatMessage:
    pieces = mirror.rewrite(
        message._content, before, after, new_text=TextContent, new_result=_new_result
    )
    return ChatMessage(message.role, pieces, message.name, message.meta)


def _new_result(piece: Any, text: str) -> ToolCallResult:
    return ToolCallResult(result=text, origin=piece.origin, error=piece.error)
