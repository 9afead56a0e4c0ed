"""OpenAI: `/v1/chat/completions`, which many other providers speak; content is one text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from refold.server.proxy.apis.base import (
    TOOL_NAME,
    Api,
    OwnCall,
    Turn,
    Usage,
    Wire,
    usage_of_openai,
)


class _OpenAIChat(Api):
    """Chat completions; what is shown of a turn is its text, as a list of one character each."""

    name = "openai-chat"
    provider = "openai"
    format = "openai-chat"
    key = "messages"
    pieces_type = str
    beside = ("tools", "functions", "response_format")

    def matches(self, path: str) -> bool:
        return path.endswith("/chat/completions")

    def has_tools(self, body: Wire) -> bool:
        """Return whether there are tools, and one answer to call them in."""
        return bool(body.get("tools")) and body.get("n") in (None, 1)

    def usage_of(self, said: Wire, known: Usage) -> Usage:
        return usage_of_openai(said.get("usage"), known, "prompt_tokens", "completion_tokens")

    def starts_own_call(self, said: Wire) -> bool:
        return any(_is_own(call) for call in _delta(said).get("tool_calls") or ())

    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Put text and calls together from their deltas."""
        text = ""
        calls: dict[int, Wire] = {}
        for event in events:
            delta = _delta(event)
            text += delta.get("content") or ""
            for piece in delta.get("tool_calls") or ():
                said = piece.get("function") or {}
                call = calls.setdefault(
                    piece.get("index", 0),
                    {"id": "", "type": "function", "function": {"name": "", "arguments": ""}},
                )
                call["id"] = piece.get("id") or call["id"]
                call["function"]["name"] += said.get("name") or ""
                call["function"]["arguments"] += said.get("arguments") or ""
        return _take_apart(text, [calls[index] for index in sorted(calls)])

    def read_answer(self, answer: Wire) -> Turn:
        message = _choice(answer).get("message")
        if not isinstance(message, dict):
            return Turn()
        text = message.get("content")
        return _take_apart(text if isinstance(text, str) else "", message.get("tool_calls") or [])

    def result(self, call: OwnCall, text: str) -> Wire:
        return {"role": "tool", "tool_call_id": call.id, "content": text}

    def join(self, shown: Sequence[Any], answer: Wire) -> Wire:
        choice = _choice(answer)
        message = dict(choice.get("message") or {})
        if shown:
            message["content"] = "".join(shown) + (message.get("content") or "")
        if message.get("tool_calls"):
            kept = [call for call in message["tool_calls"] if not _is_own(call)]
            message.pop("tool_calls")
            message |= {"tool_calls": kept} if kept else {}
        return {**answer, "choices": [{**choice, "message": message}]}

    def without_own(self, events: Sequence[Wire]) -> list[Wire]:
        """Leave calls of ours out of the deltas, and close the gap in the numbers."""
        kept: list[Wire] = []
        own: set[int] = set()
        for event in events:
            calls = _delta(event).get("tool_calls")
            if not calls:
                kept.append(event)
                continue
            own |= {call.get("index", 0) for call in calls if _is_own(call)}
            rest = [
                {**call, "index": index - sum(other < index for other in own)}
                for call in calls
                if (index := call.get("index", 0)) not in own
            ]
            if rest:
                choice = _choice(event)
                delta = {**choice["delta"], "tool_calls": rest}
                kept.append({**event, "choices": [{**choice, "delta": delta}]})
        return kept


def _choice(said: Wire) -> Wire:
    choices = said.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return first if isinstance(first, dict) else {}


def _delta(said: Wire) -> Wire:
    delta = _choice(said).get("delta")
    return delta if isinstance(delta, dict) else {}


def _is_own(call: Wire) -> bool:
    return (call.get("function") or {}).get("name") == TOOL_NAME


def _take_apart(text: str, calls: Sequence[Wire]) -> Turn:
    own = [place for place, call in enumerate(calls) if _is_own(call)]
    if not own:
        return Turn(shown=text)
    said: Wire = {"role": "assistant", "content": text or None}
    return Turn(
        shown=text,
        calls=[OwnCall(calls[place]["id"], calls[place]["function"]["arguments"]) for place in own],
        is_mixed=own[0] > 0,
        wires=[{**said, "tool_calls": [calls[place] for place in own]}],
    )


API: Final = _OpenAIChat()
