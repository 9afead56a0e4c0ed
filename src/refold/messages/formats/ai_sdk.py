"""Messages of Vercel's AI SDK: blocks named `tool-call` and `tool-result`, fields in camel case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from refold.messages.formats.base import Format, has_type
from refold.messages.formats.turn import read_turn, write_turn

_BLOCKS: Final = frozenset({"tool-call", "tool-result"})


def _matches(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(has_type(block, _BLOCKS) for block in content)


FORMAT: Final[Format] = Format(
    name="ai-sdk", matches=_matches, read=read_turn, write=write_turn, sides="user first"
)
