"""OpenAI chat messages: `tool_calls` on the assistant's side, `role: tool` answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from refold.messages.formats.base import Format, has_type
from refold.messages.formats.turn import read_turn, write_turn

_PART_TYPES: Final = frozenset({"image_url", "input_audio", "file", "refusal"})


def _matches(message: Mapping[str, Any]) -> bool:
    if message.get("tool_calls") or message.get("function_call") or message.get("tool_call_id"):
        return True
    content = message.get("content")
    return isinstance(content, list) and any(has_type(part, _PART_TYPES) for part in content)


FORMAT: Final[Format] = Format(
    name="openai-chat", matches=_matches, read=read_turn, write=write_turn
)
