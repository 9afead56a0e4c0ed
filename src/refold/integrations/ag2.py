"""AG2 (1.0 and newer): `Agent(…, middleware=[refold], tools=[…, refold.tool])`.

`refold = RefoldMiddleware()` folds what is sent to the model; the stream keeps every event as it
was. The tool lets the model fetch originals.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from typing import Any, ClassVar

from refold.integrations import mirror
from refold.integrations.choices import missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    from ag2 import Context, TextInput, ToolResult, tool
    from ag2.events import (
        BaseEvent,
        BuiltinToolCallEvent,
        BuiltinToolResultEvent,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        ToolCallEvent,
        ToolCallsEvent,
        ToolResultEvent,
        ToolResultsEvent,
    )
    from ag2.middleware import BaseMiddleware
except ImportError as error:
    raise missing("ag2 1.0 or newer", "ag2") from error


_ALONE = (ToolCallsEvent, ToolCallEvent, ToolResultEvent)
_SENT = (BuiltinToolCallEvent, BuiltinToolResultEvent)


def _read(event: BaseEvent) -> tuple[str, Sequence[Any]]:
    match event:
        case ModelRequest():
            return "user", event.parts
        case ToolResultsEvent():
            return "user", event.results
        case ModelResponse():
            texts = [] if event.message is None else [event.message]
            return "assistant", [*texts, *event.tool_calls.calls, *event.files]
    return "assistant", [(event,)]  # a provider's own, which nobody else may read


def _block(piece: Any) -> mirror.Block:
    match piece:
        case TextInput() | ModelMessage():
            return mirror.text(piece.content)
        case ToolCallEvent():
            return mirror.call(piece.id, piece.name, piece.arguments)
        case ToolResultEvent() if all(isinstance(part, TextInput) for part in piece.result.parts):
            words = "\n".join(part.content for part in piece.result.parts)
            return mirror.result(piece.parent_id, words)
    return mirror.other(type(piece).__name__)


def _piece(old: Any, text: str) -> Any:
    if not isinstance(old, ToolResultEvent):
        return TextInput(text)
    new = copy(old)
    new.result = ToolResult(text, final=old.result.final, metadata=old.result.metadata)
    return new


def _message(old: BaseEvent | None, role: str, pieces: list[Any]) -> BaseEvent:
    if isinstance(old, ToolResultsEvent):
        return ToolResultsEvent(pieces)
    if role == "user":
        return ModelRequest(pieces)
    texts = [piece.content for piece in pieces if isinstance(piece, (TextInput, ModelMessage))]
    calls = [piece for piece in pieces if isinstance(piece, ToolCallEvent)]
    new = ModelResponse() if old is None else copy(old)
    new.message = ModelMessage("\n".join(texts)) if texts else None
    new.tool_calls = ToolCallsEvent(calls)
    return new


class RefoldMiddleware(Integration):
    """Folds what agents send to their models; one may serve many agents."""

    _mirror: ClassVar = mirror.Mirror(_read, _block, _piece, _message)

    def __call__(self, event: BaseEvent, context: Context) -> BaseMiddleware:
        """Return what folds one turn."""
        return _Turn(event, context, self._afold)

    @property
    def tool(self) -> Any:
        """Fetches originals; goes into the tools of the agent."""

        async def retrieve(query: str = "", handle: str = "", lines: str = "") -> str:
            return await self.alook_up(query, handle, lines)  # AG2 copies what it is given

        return tool(retrieve, **describe_retrieve("schema"))


class _Turn(BaseMiddleware):
    def __init__(
        self, event: BaseEvent, context: Context, fold: Callable[..., Awaitable[list[Any]]]
    ) -> None:
        super().__init__(event, context)
        self._fold = fold

    async def on_llm_call(
        self, call_next: Any, events: Sequence[BaseEvent], context: Context
    ) -> ModelResponse:
        # Calls and results also stand alone in the stream; models are sent those in other events.
        sent = [one for one in events if isinstance(one, _SENT) or not isinstance(one, _ALONE)]
        return await call_next(await self._fold(sent, beside=[*context.prompt]), context)
