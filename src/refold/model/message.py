"""One turn of a conversation, read once from the caller's data and never changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from refold.model.provenance import Provenance
from refold.model.wire import Path, Wire


class Part(NamedTuple):
    """A piece of text inside a message that may be replaced by a shorter one."""

    path: Path
    text: str
    call_id: str | None = None
    """The tool call that this text answers, if it is a tool result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn; `wire` is the caller's own data, read-only, and all that we do not understand."""

    index: int
    id: str
    role: str
    wire: Wire
    digest: str
    """Names `wire` by its content."""
    format: str = "plain"
    """Name of the shape it was read in."""
    parts: tuple[Part, ...] = ()
    opaque: tuple[str, ...] = ()
    """Texts that cost tokens but are never replaced: tool arguments, thinking, names."""
    images: int = 0
    """How many pictures it carries; they cost tokens by rule."""
    calls: tuple[str, ...] = ()
    """Ids of the tool calls that this message makes."""
    provenance: Provenance | None = None
    """Set when this message is itself a stand-in made by us."""
    has_envelope: bool = False
    """Whether the caller's data has an `id` or `metadata`: then provenance can travel in it."""

    binds_next: bool = False
    """Whether providers refuse it without the message after it, such as reasoning before a call."""
    is_turn: bool = True
    """False for records of a session file that no model ever sees: they only travel along."""

    @property
    def chars(self) -> int:
        """Length of all replaceable text."""
        return sum(len(part.text) for part in self.parts)

    @property
    def is_tool_result(self) -> bool:
        """Whether it answers a tool call, by role or by content."""
        return self.role in ("tool", "function") or any(part.call_id for part in self.parts)

    @property
    def sole_part(self) -> Part | None:
        """Its one text, if that is all it says: only such messages can merge with others.

        A message or part with fields of its own keeps them, so it stays alone.
        """
        if len(self.parts) != 1 or self.is_tool_result or self.calls:
            return None
        if not _MERGEABLE_KEYS.issuperset(self.wire):
            return None
        content = self.wire.get("content")
        if isinstance(content, str):
            return self.parts[0]
        is_plain = isinstance(content, list) and len(content) == 1 and set(content[0]) == _TEXT_KEYS
        return self.parts[0] if is_plain else None


_MERGEABLE_KEYS = frozenset({"role", "content", "id", "index", "metadata", "name"})
_TEXT_KEYS = {"type", "text"}
