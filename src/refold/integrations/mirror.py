"""Messages of frameworks that refold has no format for, mirrored as content blocks, and back.

Each piece of a message becomes a block that records its place. The blocks that come back say what
became of it: a piece whose text has changed is written anew, one that is missing was left out, and
all others are the very same objects, as are messages in which nothing has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

Block = dict[str, Any]

FORMAT: Final = "anthropic"
"""The format of the mirror: its blocks can express all that is needed."""
_PLACE: Final = "place"
_ROLES: Final = {"tool": "user", "function": "user", "developer": "system"}
_ORIGINALS: Final = "_refold_originals"
"""The attribute with which a message refers to those that it stands for."""


def text(words: str) -> Block:
    """Mirror a text."""
    return {"type": "text", "text": words}


def thought(words: str) -> Block:
    """Mirror thinking."""
    return {"type": "thinking", "thinking": words}


def call(id_: str | None, name: str | None, arguments: object) -> Block:
    """Mirror a tool call."""
    return {"type": "tool_use", "id": id_ or "", "name": name or "", "input": arguments}


def result(call_id: str | None, words: str) -> Block:
    """Mirror a tool result."""
    return {"type": "tool_result", "tool_use_id": call_id or "", "content": words}


def other(piece: object) -> Block:
    """Mirror anything else: it is counted, and never changed."""
    return {"type": "other", "said": str(piece)}


@dataclass(frozen=True, slots=True)
class Mirror:
    """How the messages of one framework, and their pieces, are read and written."""

    read: Callable[[Any], tuple[str, Sequence[Any]]]
    """The role of a message, and its pieces."""
    block: Callable[[Any], Block]
    """A piece as a block."""
    piece: Callable[[Any, str], Any]
    """A piece like another one, or `None`, with a new text."""
    message: Callable[[Any, str, list[Any]], Any]
    """A message like another one, or `None`, of a role, with new pieces."""

    def mirror(self, messages: Iterable[Any]) -> list[dict[str, Any]]:
        """Return *messages* as wire messages."""
        wires: list[dict[str, Any]] = []
        for number, message in enumerate(messages):
            role, pieces = self.read(message)
            blocks = [
                {**self.block(piece), _PLACE: [number, place]} for place, piece in enumerate(pieces)
            ]
            wires.append({"role": _ROLES.get(role, role), "content": blocks})
        return wires

    def back(self, messages: Sequence[Any], wires: Sequence[Any], sent: list[Any]) -> list[Any]:
        """Return messages for what is *sent* of *wires*, which mirror the *messages* given."""
        same = {id(wire): place for place, wire in enumerate(wires)}
        return [
            messages[same[id(wire)]] if id(wire) in same else self._write(messages, wires, wire)
            for wire in sent
        ]

    def _write(self, messages: Sequence[Any], wires: Sequence[Any], wire: dict[str, Any]) -> Any:
        content = wire["content"]
        blocks: list[Block] = [text(content)] if isinstance(content, str) else content
        old = next((messages[block[_PLACE][0]] for block in blocks if _PLACE in block), None)
        pieces: list[Any] = []
        for block in blocks:
            number, place = block.get(_PLACE, (0, 0))
            before = self.read(messages[number])[1][place] if _PLACE in block else None
            if before is not None and block == wires[number]["content"][place]:
                pieces.append(before)
            else:
                words = block["content"] if block["type"] == "tool_result" else block["text"]
                pieces.append(self.piece(before, words))
        return self.message(old, wire["role"], pieces)


def note_originals(sent: Sequence[Any], messages: Sequence[Any], places: Sequence[range]) -> None:
    """Let messages that were made know which they stand for, where the framework keeps them."""
    for one, stood_for in zip(sent, places, strict=True):
        if one is not messages[stood_for.start]:
            object.__setattr__(one, _ORIGINALS, [messages[place] for place in stood_for])


def originals_of(messages: Iterable[Any]) -> list[Any]:
    """Return the messages that *messages* stand for: themselves, if they were not made here."""
    return [one for message in messages for one in getattr(message, _ORIGINALS, [message])]
