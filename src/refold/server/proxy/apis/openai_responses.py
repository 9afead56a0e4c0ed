"""OpenAI: `/v1/responses`; a conversation is a flat list of items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from refold.server.proxy.apis.base import (
    OwnCall,
    PiecewiseApi,
    Round,
    Turn,
    Usage,
    Wire,
    usage_of_openai,
    without_numbers,
)

_FOLLOWS: Final = "previous_response_id"
_STARTS: Final = ("response.created", "response.in_progress", "response.queued")
_CLIENT_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call", "shell_call")


class _OpenAIResponses(PiecewiseApi):
    """The Responses API."""

    name = "openai-responses"
    provider = "openai"
    format = "openai-responses"
    key = "input"
    beside = ("instructions", "tools")
    style = "openai_responses"

    def matches(self, path: str) -> bool:
        return path.endswith("/responses")

    def follows(self, body: Wire) -> str:
        return str(body.get(_FOLLOWS) or "")

    def follow(self, body: Wire, name: str) -> Wire:
        return {**body, _FOLLOWS: name}

    def name_of(self, said: Wire) -> str:
        response = said.get("response")
        return str(response.get("id") or "") if isinstance(response, dict) else ""

    def has_tools(self, body: Wire) -> bool:
        """Return whether there are tools; what runs in the background is fetched elsewhere."""
        return bool(body.get("tools")) and not body.get("background")

    def usage_of(self, said: Wire, known: Usage) -> Usage:
        """Read `usage` of a response, or of the event that has the whole of it."""
        response = said.get("response")
        usage = response.get("usage") if isinstance(response, dict) else said.get("usage")
        return usage_of_openai(usage, known, "input_tokens", "output_tokens")

    def starts_own_call(self, said: Wire) -> bool:
        return said.get("type") == "response.output_item.added" and self.is_own(said.get("item"))

    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Take the items as they are when they are done."""
        done = [event for event in events if event.get("type") == "response.output_item.done"]
        return self.take_apart([event["item"] for event in done])

    def read_answer(self, answer: Wire) -> Turn:
        return self.take_apart(answer.get("output"))

    def result(self, call: OwnCall, text: str) -> Wire:
        return {"type": "function_call_output", "call_id": call.id, "output": text}

    def called(self, piece: Wire) -> str | None:
        """Read an item; some kinds of calls have no name, or another kind of arguments."""
        if piece.get("type") not in _CLIENT_CALLS:
            return None
        return str(piece.get("name")) if piece["type"] == "function_call" else ""

    def own_call(self, piece: Wire) -> OwnCall:
        return OwnCall(piece["call_id"], piece["arguments"])

    def said(self, pieces: list[Wire]) -> list[Wire]:
        """Return the items: each is a message of its own."""
        return pieces

    def join(self, shown: Sequence[Any], answer: Wire) -> Wire:
        output = [item for item in answer.get("output") or [] if not self.is_own(item)]
        return {**answer, "output": [*shown, *output]}

    def shift(self, event: Wire, shown: Sequence[Any], name: str) -> Wire | None:
        """Shift the numbers of items; a response begins once, and has all items at its end."""
        if event.get("type") in _STARTS:
            return None
        if isinstance(event.get("response"), dict):
            return {**event, "response": {**self.join(shown, event["response"]), "id": name}}
        if "output_index" in event:
            return {**event, "output_index": event["output_index"] + len(shown)}
        return event

    def without_own(self, events: Sequence[Wire]) -> list[Wire]:
        """Leave items of ours out, also of a whole response."""
        return [
            {**event, "response": self.join((), event["response"])}
            if isinstance(event.get("response"), dict)
            else event
            for event in without_numbers(events, "output_index", self.starts_own_call)
        ]

    def insert(self, messages: Sequence[Wire], rounds: Sequence[Round]) -> list[Wire]:
        """Put each exchange behind the items that came before it."""
        expanded: list[Wire] = []
        start = 0
        for shown, wires in rounds:
            expanded += [*messages[start : start + shown], *wires[shown:]]
            start += shown
        return [*expanded, *messages[start:]]


API: Final = _OpenAIResponses()
