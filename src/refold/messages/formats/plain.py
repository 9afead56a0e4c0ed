"""Plain messages: a role and content, with or without an id; what every provider has in common."""

from __future__ import annotations

from typing import Final

from refold.messages.formats.base import Format
from refold.messages.formats.turn import read_turn, write_turn

FORMAT: Final[Format] = Format(
    name="plain",
    matches=lambda _: False,
    read=read_turn,
    write=write_turn,
    sides="user first",  # any provider may be meant
)
