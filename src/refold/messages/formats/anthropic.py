"""Anthropic messages: content blocks with `tool_use`, `tool_result` and `thinking`."""

from __future__ import annotations

from typing import Any, Final

from refold.messages.formats.base import Format, has_type
from refold.messages.formats.turn import read_turn, write_turn

_BLOCK_TYPES: Final = frozenset(
    {
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "mcp_tool_use",
        "mcp_tool_result",
        "image",
        "document",
    }
)

_THINKING: Final = frozenset({"thinking", "redacted_thinking"})


def _has_blocks(content: object) -> bool:
    """Tell whether *content* holds a block that only Anthropic messages have."""
    return isinstance(content, list) and any(has_type(block, _BLOCK_TYPES) for block in content)


def _strip(message: dict[str, Any], note: str) -> None:
    rest = [block for block in message["content"] if not has_type(block, _THINKING)]
    message["content"] = [*([{"type": "text", "text": note}] if note else ()), *rest]


FORMAT: Final[Format] = Format(
    name="anthropic",
    matches=lambda message: _has_blocks(message.get("content")),
    read=read_turn,
    write=write_turn,
    strip=_strip,
    sides="user first",
)
