"""smolagents: `RefoldMemory().attach(agent)`, for agents that call tools and those that write code.

`agent.memory` keeps every step as it was; only what is sent to the model is folded. smolagents
sends what tools return as text of the user's; it is folded as what it is. The agent gets the tool.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, NamedTuple

from refold.integrations import mirror
from refold.integrations.choices import missing
from refold.integrations.conversations import RETRIEVE, Integration, describe_retrieve

try:
    from smolagents import MultiStepAgent, Tool
    from smolagents.models import ChatMessage, MessageRole
except ImportError as error:
    raise missing("smolagents", "smolagents") from error

_CALLING: Final = "Calling tools:\n"
_OBSERVED: Final = "Observation:\n"


class _Piece(NamedTuple):
    block: dict[str, Any]
    call_id: str = ""
    """The call that it is, or the result of."""
    is_call: bool = False


def _pieces_of(messages: Sequence[ChatMessage]) -> list[tuple[ChatMessage, list[_Piece]]]:
    """Return each message with its pieces; a call and what was observed next belong together."""
    read: list[tuple[ChatMessage, list[_Piece]]] = []
    waiting = ""
    for number, message in enumerate(messages):
        content = message.content
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        text = str(blocks[0].get("text", "")) if blocks else ""
        is_call = message.role == "tool-call" and text.startswith(_CALLING)
        is_result = message.role == "tool-response" and text.startswith(_OBSERVED)
        call_id = f"c{number}" if is_call else waiting if is_result else ""
        waiting = call_id if is_call else "" if is_result else waiting
        read.append((message, [_Piece(block, call_id, is_call) for block in blocks]))
    return read


def _read(entry: tuple[ChatMessage, list[_Piece]]) -> tuple[str, list[_Piece]]:
    role = MessageRole(entry[0].role).value
    return {"tool-call": "assistant", "tool-response": "user"}.get(role, role), entry[1]


def _block(piece: _Piece) -> mirror.Block:
    text = piece.block.get("text")
    if not isinstance(text, str):
        return mirror.other(piece.block.get("type"))
    if not piece.call_id:
        return mirror.text(text)
    if not piece.is_call:
        return mirror.result(piece.call_id, text.removeprefix(_OBSERVED))
    try:
        calls = [call["function"] for call in literal_eval(text.removeprefix(_CALLING))]
        name, arguments = str(calls[0]["name"]), calls[0]["arguments"]
    except (ValueError, SyntaxError, TypeError, LookupError):
        calls, name, arguments = [], "tool", text
    if len(calls) > 1:
        arguments = {"calls": calls}
    name = RETRIEVE if RETRIEVE in text else name  # a program may call it, too
    arguments = arguments if isinstance(arguments, dict) else {"input": arguments}
    return mirror.call(piece.call_id, name, arguments)


def _piece(old: _Piece | None, text: str) -> _Piece:
    start = _OBSERVED if old is not None and old.call_id and not old.is_call else ""
    return _Piece({"type": "text", "text": f"{start}{text}"})


def _message(old: Any, role: str, pieces: list[_Piece]) -> tuple[ChatMessage, list[_Piece]]:
    message = ChatMessage(role=MessageRole(role)) if old is None else old[0]
    return replace(message, content=[piece.block for piece in pieces]), pieces


class RefoldMemory(Integration):
    """Folds what agents send to their models; one may serve many agents."""

    _mirror: ClassVar = mirror.Mirror(_read, _block, _piece, _message)

    def attach(self, agent: MultiStepAgent) -> MultiStepAgent:
        """Fold what *agent* sends from now on, and give it the retrieval tool; return it."""
        write, model = agent.write_memory_to_messages, getattr(agent.model, "model_id", None)

        def write_folded(summary_mode: bool = False) -> list[ChatMessage]:
            messages = write(summary_mode)
            if summary_mode:
                return messages
            return [message for message, _ in self._fold(_pieces_of(messages), model=model)]

        def retrieve(arguments: dict[str, Any]) -> str:
            history = self._mirror.mirror(_pieces_of(write()))  # programs run in threads of theirs
            return self.conversations.retrieve(arguments, messages=history)

        agent.write_memory_to_messages = write_folded
        agent.tools[RETRIEVE] = _retrieve_tool(retrieve)
        return agent


def _retrieve_tool(retrieve: Callable[[dict[str, Any]], str]) -> Tool:
    described = describe_retrieve()
    texts = described["parameters"]["properties"].items()

    class Retrieve(Tool):
        name, description, output_type = described["name"], described["description"], "string"
        inputs: ClassVar = {key: {**value, "nullable": True} for key, value in texts}

        def forward(self, query: str = "", handle: str = "", lines: str = "") -> str:
            return retrieve({"query": query or "", "handle": handle or "", "lines": lines or ""})

    return Retrieve()
