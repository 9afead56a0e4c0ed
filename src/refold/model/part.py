"""What a message is made of, beside its calls: texts, results of tools, media."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from refold.model.failure import is_failure
from refold.model.wire import Path

PartKind = Literal["text", "result"]
MediaKind = Literal["image", "audio", "video", "file"]


class ToolResult:
    """What one call came to: all texts of it share this value; read-only."""

    __slots__ = ("call_id", "holder", "path", "tool")

    def __init__(
        self, call_id: str | None, holder: Mapping[str, Any], path: Path = (), tool: str = ""
    ) -> None:
        self.call_id: Final = call_id
        """The call that it answers, if it says so."""
        self.holder: Final = holder
        """The block or message that holds it."""
        self.path: Final = path
        """Where that stands; `()` if the whole message is the result."""
        self.tool: Final = tool
        """The name of the tool, if the result itself has it."""

    @property
    def has_failed(self) -> bool:
        """Whether it says by its fields that the tool failed; a text may say so as well."""
        bodies = (self.holder.get(name) for name in ("content", "output", "response"))
        return is_failure(self.holder) or any(map(is_failure, bodies))


class Part:
    """A piece of text inside a message that may be replaced by a shorter one; read-only."""

    __slots__ = ("call_id", "path", "result", "text")

    def __init__(self, path: Path, text: str, result: ToolResult | None = None) -> None:
        self.path: Final = path
        self.text: Final = text
        self.result: Final = result
        """What it is a text of, if a tool returned it."""
        self.call_id: Final = None if result is None else result.call_id
        """The tool call that this text answers, if it is a tool result and says so."""

    @property
    def kind(self) -> PartKind:
        """Whether somebody says it or a tool returned it."""
        return "text" if self.result is None else "result"


class Media:
    """A picture, recording or file that a line of text may take the place of; read-only."""

    __slots__ = ("block", "kind", "path")

    def __init__(self, kind: MediaKind, path: Path, block: Mapping[str, Any]) -> None:
        self.kind: Final = kind
        self.path: Final = path
        self.block: Final = block
