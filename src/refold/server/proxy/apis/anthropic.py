"""Anthropic: `/v1/messages` and `/v1/messages/count_tokens`, or their paths on Vertex AI."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from refold.server.proxy.apis.base import (
    Api,
    RetrievalCall,
    Turn,
    Usage,
    Wire,
    count_of,
)

_PARTIAL: Final = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}
"""By type of delta: its field, which is also the field of the block that it extends."""


class _Anthropic(Api):
    """The Messages API; content is a list of blocks."""

    name = "anthropic"
    provider = "anthropic"
    format = "anthropic"
    path = re.compile(
        r"/messages(?:/count_tokens)?\Z|/anthropic/models/([^/:]+):(?:rawP|streamRawP)redict\Z"
    )
    counting = ("/count_tokens", "/count-tokens:rawPredict")
    key = "messages"
    beside = ("system", "tools")
    style = "anthropic"
    wraps_results = True
    answer_key = "content"
    index = "index"
    opens_piece = ("content_block_start", "content_block")
    opens_answer = ("message_start",)

    def model_of(self, body: Wire, path: str) -> str | None:
        """Return the model; on Vertex AI, the path names it."""
        match = self.path.search(path)
        return match[1] if match and match[1] else super().model_of(body, path)

    def read_usage(self, data: Wire, known: Usage) -> Usage:
        """Read `usage` of an answer, of `message_start`, or of `message_delta`."""
        message = data.get("message")
        usage = message.get("usage") if isinstance(message, dict) else data.get("usage")
        if not isinstance(usage, dict):
            return known
        written = usage.get("cache_creation")
        for_hour = written.get("ephemeral_1h_input_tokens") if isinstance(written, dict) else 0
        return Usage(
            uncached=count_of(usage.get("input_tokens")) or known.uncached,
            cache_read=count_of(usage.get("cache_read_input_tokens")) or known.cache_read,
            cache_written=count_of(usage.get("cache_creation_input_tokens")) or known.cache_written,
            output=count_of(usage.get("output_tokens")) or known.output,
            written_for_hour=count_of(for_hour) or known.written_for_hour,
        )

    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Assemble the blocks from their deltas."""
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
        return self.split_turn([blocks[index] for index in sorted(blocks)])

    def result(self, call: RetrievalCall, text: str) -> Wire:
        return {"type": "tool_result", "tool_use_id": call.id, "content": text}

    def tool_called(self, piece: Wire) -> str | None:
        return str(piece.get("name")) if piece.get("type") == "tool_use" else None

    def read_call(self, piece: Wire) -> RetrievalCall:
        return RetrievalCall(piece["id"], piece.get("input") or {})


API: Final = _Anthropic()
