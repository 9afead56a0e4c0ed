"""References into messages: texts and their paths, results of tools."""

from __future__ import annotations

from dataclasses import dataclass

from refold.model.wire import Path, place_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRef:
    """A text in a message, and where it stands."""

    index: int
    path: Path
    role: str
    text: str
    beside_calls: bool = False
    """Whether the same message makes tool calls: the text may be shortened, the calls never."""

    @property
    def place(self) -> str:
        """The spot for people: `messages[3].content[1].text`."""
        return place_of(self.index, self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultRef(TextRef):
    """A text that a tool returned."""

    tool: str = ""
    """The name of the tool, from the call that this answers; empty if nobody tells."""
    arguments: str = ""
    call_id: str = ""
    is_error: bool = False
    block: Path = ()
    """The result that this text is part of: texts with the same index and block are one result."""
