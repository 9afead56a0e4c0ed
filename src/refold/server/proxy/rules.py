"""What the settings say of tools: whose results stay as they are, and how long others may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

_PIECES: Final = ("content", "parts", "tool_calls")
_ANSWERS: Final = ("tool_use_id", "tool_call_id", "call_id")


class ToolRules:
    """The rules for one conversation, which learns from it which call is of which tool."""

    def __init__(self, excluded: Sequence[str], limits: Mapping[str, int]) -> None:
        """*excluded* are names or patterns of tools; *limits* are tokens by name or pattern."""
        self.excluded = excluded
        self._limits = limits
        self._names: dict[str, str] = {}
        """Names of tools by the ids of their calls."""

    def note(self, message: Any) -> None:
        """Read the calls of a message, before it is appended to the session."""
        if not self.excluded and not self._limits:
            return
        for piece in _pieces(message):
            function = piece.get("function")
            name = (function if isinstance(function, Mapping) else piece).get("name")
            id_ = piece.get("call_id") or piece.get("id")
            if isinstance(name, str) and isinstance(id_, str):
                self._names[id_] = name

    def is_excluded(self, message: Mapping[str, Any]) -> bool:
        """Return whether a message has the result of a tool that is excluded."""
        return any(
            fnmatchcase(name, pattern)
            for name in self._answered(message)
            for pattern in self.excluded
        )

    def limit_of(self, message: Mapping[str, Any]) -> int | None:
        """Return the most tokens of a message with results, if there is a limit for their tool."""
        for name in self._answered(message):
            for pattern, limit in self._limits.items():
                if fnmatchcase(name, pattern):
                    return limit
        return None

    def _answered(self, message: Mapping[str, Any]) -> Iterator[str]:
        """Yield the names of the tools whose results are in a message."""
        for piece in _pieces(message):
            answer = piece.get("functionResponse") or piece.get("function_response")
            if isinstance(answer, Mapping):
                yield str(answer.get("name"))
            elif piece.get("type") not in ("function_call", "custom_tool_call"):
                ids = (piece.get(key) for key in _ANSWERS)
                yield from (self._names[id_] for id_ in ids if id_ in self._names)


def _pieces(message: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a message, and the pieces it has."""
    if isinstance(message, Mapping):
        yield message
        for key in _PIECES:
            pieces = message.get(key)
            if isinstance(pieces, list):
                yield from (piece for piece in pieces if isinstance(piece, Mapping))
