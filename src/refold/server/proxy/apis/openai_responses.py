"""OpenAI: `/v1/responses`; a conversation is a flat list of items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from refold.server.proxy.apis.base import (
    Api,
    RetrievalCall,
    Round,
    Turn,
    Usage,
    Wire,
    read_openai_usage,
)

_CLIENT_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call", "shell_call")


class _OpenAIResponses(Api):
    """The Responses API."""

    name = "openai-responses"
    provider = "openai"
    format = "openai-responses"
    path = re.compile(r"/responses\Z")
    key = "input"
    previous = "previous_response_id"
    beside = ("instructions", "tools")
    style = "openai_responses"
    answer_key = "output"
    index = "output_index"
    opens_piece = ("response.output_item.added", "item")
    opens_answer = ("response.created", "response.in_progress", "response.queued")

    def response_id(self, data: Wire) -> str:
        response = data.get("response")
        return str(response.get("id") or "") if isinstance(response, dict) else ""

    def has_tools(self, body: Wire) -> bool:
        """Return whether there are tools; answers of background runs do not pass through here."""
        return bool(body.get("tools")) and not body.get("background")

    def read_usage(self, data: Wire, known: Usage) -> Usage:
        """Read `usage` of a response, or of the event that has the whole response."""
        response = data.get("response")
        usage = response.get("usage") if isinstance(response, dict) else data.get("usage")
        return read_openai_usage(usage, known, "input_tokens", "output_tokens")

    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Take the items from the events that say they are done."""
        done = [event for event in events if event.get("type") == "response.output_item.done"]
        return self.split_turn([event["item"] for event in done])

    def result(self, call: RetrievalCall, text: str) -> Wire:
        return {"type": "function_call_output", "call_id": call.id, "output": text}

    def tool_called(self, piece: Wire) -> str | None:
        """Return the name of the function; other kinds of calls count as calls without a name."""
        if piece.get("type") not in _CLIENT_CALLS:
            return None
        return str(piece.get("name")) if piece["type"] == "function_call" else ""

    def read_call(self, piece: Wire) -> RetrievalCall:
        return RetrievalCall(piece["call_id"], piece["arguments"])

    def as_messages(self, pieces: list[Wire]) -> list[Wire]:
        """Return the items themselves: each is a message."""
        return pieces

    def shift(self, event: Wire, visible: Sequence[Any], name: str) -> Wire | None:
        """Count items on; the response begins once, and ends with all of them."""
        shifted = super().shift(event, visible, name)
        if shifted is None or not isinstance(event.get("response"), dict):
            return shifted
        return {**event, "response": {**self.join(visible, event["response"]), "id": name}}

    def without_retrievals(self, events: Sequence[Wire]) -> list[Wire]:
        """Drop items of retrieval calls, also from whole responses."""
        return [
            {**event, "response": self.join((), event["response"])}
            if isinstance(event.get("response"), dict)
            else event
            for event in super().without_retrievals(events)
        ]

    def insert(self, messages: Sequence[Wire], rounds: Sequence[Round]) -> list[Wire]:
        """Insert each round after the items that came before it."""
        expanded: list[Wire] = []
        start = 0
        for visible, wires in rounds:
            expanded += [*messages[start : start + visible], *wires[visible:]]
            start += visible
        return [*expanded, *messages[start:]]


API: Final = _OpenAIResponses()
