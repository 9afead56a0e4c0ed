"""What a message is made of: texts, tool calls and their results, media."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from refold.messages.failure import is_failure
from refold.messages.wire import Path, spell

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
        """Whether it was said, or returned by a tool."""
        return "text" if self.result is None else "result"


class Media:
    """A picture, recording or file that a line of text may take the place of; read-only."""

    __slots__ = ("block", "kind", "path")

    def __init__(self, kind: MediaKind, path: Path, block: Mapping[str, Any]) -> None:
        self.kind: Final = kind
        self.path: Final = path
        self.block: Final = block


class Call:
    """One call that a message makes; read-only."""

    __slots__ = ("_parsed", "_text", "given", "id", "name", "path", "spelled")

    def __init__(self, id: str, name: str, given: object = "", path: Path | None = None) -> None:
        self.id: Final = id
        """What its answer names; unique among the calls that are open at the same time."""
        self.name: Final = name
        self.given: Final = given
        """The arguments as the message has them: a text, mostly JSON, or data."""
        self.spelled: Final = given if isinstance(given, str) else spell(given)
        """The arguments as text, the way a provider counts them."""
        self.path: Final = path
        """Where the arguments stand, if they may be written shorter there."""
        self._parsed: object = None
        self._text: str | None = None

    @property
    def text(self) -> str:
        """What the call costs: its name and its arguments; one string, however often asked for."""
        if self._text is None:
            self._text = f"{self.name} {self.spelled}"
        return self._text

    def given_as(self, given: object) -> Call:
        """Return the same call with its arguments written otherwise."""
        return Call(self.id, self.name, given, self.path)

    @property
    def arguments(self) -> Mapping[str, Any] | None:
        """The arguments by name, read when first asked for; `None` if they have no names."""
        if self._parsed is None:
            self._parsed = _parse(self.given) if isinstance(self.given, str) else self.given
        return self._parsed if isinstance(self._parsed, Mapping) else None


def _parse(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
