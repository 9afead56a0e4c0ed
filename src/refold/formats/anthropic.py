"""Anthropic messages: content blocks with `tool_use`, `tool_result` and `thinking`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from refold.formats.base import Format, Reading, read_id, read_role
from refold.formats.content import read_content

BLOCK_TYPES: Final = frozenset(
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


def has_blocks(content: object) -> bool:
    """Tell whether *content* holds a block that only Anthropic messages have."""
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and block.get("type") in BLOCK_TYPES for block in content
    )


def read_turn(message: Mapping[str, Any], place: str) -> Reading:
    """Read one turn with string or block content."""
    reading = Reading(role=read_role(message, place), id=read_id(message, place))
    read_content(reading, message.get("content"), ("content",), place)
    return reading


FORMAT: Final = Format(
    name="anthropic", marks=lambda message: has_blocks(message.get("content")), read=read_turn
)
