"""The unit that is decided on: one text part of one message."""

from __future__ import annotations

from typing import Final

from refold.model.message import Message


class Segment:
    """One text part of one message, numbered through the whole conversation; read-only."""

    __slots__ = ("message", "number", "text")

    def __init__(self, number: int, message: Message, text: str) -> None:
        self.number: Final = number
        self.message: Final = message
        self.text: Final = text
        """The text to decide on."""

    @property
    def id(self) -> str:
        """The id that references to this text use."""
        return self.message.id
