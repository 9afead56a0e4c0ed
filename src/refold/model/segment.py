"""The unit that is decided on: one text part of one message."""

from __future__ import annotations

from typing import NamedTuple

from refold.model.message import Message, Part


class Segment(NamedTuple):
    """One text part of one message, numbered through the whole conversation."""

    number: int
    message: Message
    part: Part

    @property
    def text(self) -> str:
        """The text to decide on."""
        return self.part.text

    @property
    def id(self) -> str:
        """The id that references to this text use."""
        return self.message.id
