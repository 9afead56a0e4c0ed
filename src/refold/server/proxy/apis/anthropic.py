"""Anthropic: `/v1/messages` and `/v1/messages/count_tokens`; content is a list of blocks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from refold.server.proxy.apis.base import (
    OwnCall,
    PiecewiseApi,
    Turn,
    Usage,
    Wire,
    whole,
    without_numbers,
)

_COUNT: Final = "/messages/count_tokens"
_PARTIAL: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}
"""By the type of a delta: its field, which is also the field of the block that grows."""


class _Anthropic(PiecewiseApi):
    """The Messages API."""

    name = "anthropic"
    provider = "anthropic"
    format = "anthropic"
    key = "messages"
    beside = ("system", "tools")
    style = "anthropic"
    wraps_results = True

    def matches(self, path: str) -> bool:
        return path.endswith(("/messages", _COUNT))

    def is_counting(self, path: str) -> bool:
        return path.endswith(_COUNT)

    def usage_of(self, said: Wire, known: Usage) -> Usage:
        """Read `usage` of an answer, of `message_start` and of `message_delta`."""
        message = said.get("message")
        usage = message.get("usage") if isinstance(message, dict) else said.get("usage")
        if not isinstance(usage, dict):
            return known
        return Usage(
            uncached=whole(usage.get("input_tokens")) or known.uncached,
            cache_read=whole(usage.get("cache_read_input_tokens")) or known.cache_read,
            cache_written=whole(usage.get("cache_creation_input_tokens")) or known.cache_written,
            output=whole(usage.get("output_tokens")) or known.output,
        )

    def starts_own_call(self, said: Wire) -> bool:
        return said.get("type") == "content_block_start" and self.is_own(said.get("content_block"))

    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Put the blocks together from their deltas."""
        blocks: dict[int, Wire] = {}
        partial: dict[int, str] = {}
        for event in events:
            index = event.get("index", -1)
            if event.get("type") == "content_block_start":
                blocks[index] = dict(event["content_block"])
            elif event.get("type") == "content_block_delta" and index in blocks:
                delta, block = event["delta"], blocks[index]
                if delta["type"] == "input_json_delta":
                    partial[index] = partial.get(index, "") + delta["partial_json"]
                elif delta["type"] in _PARTIAL:
                    field = _PARTIAL[delta["type"]]
                    block[field] = block.get(field, "") + delta[field]
                elif delta["type"] == "citations_delta":
                    block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        for index, text in partial.items():
            blocks[index]["input"] = json.loads(text) if text else {}
        return self.take_apart([blocks[index] for index in sorted(blocks)])

    def read_answer(self, answer: Wire) -> Turn:
        return self.take_apart(answer.get("content"))

    def result(self, call: OwnCall, text: str) -> Wire:
        return {"type": "tool_result", "tool_use_id": call.id, "content": text}

    def called(self, piece: Wire) -> str | None:
        return str(piece.get("name")) if piece.get("type") == "tool_use" else None

    def own_call(self, piece: Wire) -> OwnCall:
        return OwnCall(piece["id"], piece.get("input") or {})

    def join(self, shown: Sequence[Any], answer: Wire) -> Wire:
        content = [block for block in answer.get("content") or [] if not self.is_own(block)]
        return {**answer, "content": [*shown, *content]}

    def shift(self, event: Wire, shown: Sequence[Any], name: str) -> Wire | None:
        """Shift the numbers of blocks; a message begins once."""
        del name
        if event.get("type") == "message_start":
            return None
        if "index" in event:
            return {**event, "index": event["index"] + len(shown)}
        return event

    def without_own(self, events: Sequence[Wire]) -> list[Wire]:
        return without_numbers(events, "index", self.starts_own_call)


API: Final = _Anthropic()
