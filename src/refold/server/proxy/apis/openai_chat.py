"""OpenAI: `/v1/chat/completions`, which many other providers have; content is one text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from refold.server.proxy.apis.base import (
    Api,
    RetrievalCall,
    Turn,
    Usage,
    Wire,
    read_openai_usage,
)


class _OpenAIChat(Api):
    """Chat completions; the visible part of a turn is its text, counted in characters."""

    name = "openai-chat"
    provider = "openai"
    format = "openai-chat"
    path = re.compile(r"/chat/completions\Z")
    key = "messages"
    pieces_type = str
    beside = ("tools", "functions", "response_format")

    def has_tools(self, body: Wire) -> bool:
        """Return whether there are tools, and only one answer is asked for."""
        return bool(body.get("tools")) and body.get("n") in (None, 1)

    def read_usage(self, data: Wire, known: Usage) -> Usage:
        return read_openai_usage(data.get("usage"), known, "prompt_tokens", "completion_tokens")

    def starts_retrieval(self, data: Wire) -> bool:
        return any(map(self.is_retrieval, _delta(data).get("tool_calls") or ()))

    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Assemble text and calls from their deltas."""
        text = ""
        calls: dict[int, Wire] = {}
        for event in events:
            delta = _delta(event)
            text += delta.get("content") or ""
            for piece in delta.get("tool_calls") or ():
                function = piece.get("function") or {}
                call = calls.setdefault(
                    piece.get("index", 0),
                    {"id": "", "type": "function", "function": {"name": "", "arguments": ""}},
                )
                call["id"] = piece.get("id") or call["id"]
                call["function"]["name"] += function.get("name") or ""
                call["function"]["arguments"] += function.get("arguments") or ""
        return self._split(text, [calls[index] for index in sorted(calls)])

    def read_answer(self, answer: Wire) -> Turn:
        message = _choice(answer).get("message")
        if not isinstance(message, dict):
            return Turn()
        text = message.get("content")
        return self._split(text if isinstance(text, str) else "", message.get("tool_calls") or [])

    def _split(self, text: str, calls: Sequence[Wire]) -> Turn:
        ours = [call for call in calls if self.is_retrieval(call)]
        answer: Wire = {"role": "assistant", "content": text or None, "tool_calls": ours}
        return Turn(
            visible=text,
            calls=[self.read_call(call) for call in ours],
            is_mixed=bool(ours) and calls[0] is not ours[0],
            wires=[answer] if ours else (),
        )

    def tool_called(self, piece: Wire) -> str | None:
        name = (piece.get("function") or {}).get("name")
        return None if name is None else str(name)

    def read_call(self, piece: Wire) -> RetrievalCall:
        return RetrievalCall(piece["id"], piece["function"]["arguments"])

    def result(self, call: RetrievalCall, text: str) -> Wire:
        return {"role": "tool", "tool_call_id": call.id, "content": text}

    def join(self, visible: Sequence[Any], answer: Wire) -> Wire:
        choice = _choice(answer)
        message = dict(choice.get("message") or {})
        if visible:
            message["content"] = "".join(visible) + (message.get("content") or "")
        if message.get("tool_calls"):
            kept = self.kept(message.pop("tool_calls"))
            message |= {"tool_calls": kept} if kept else {}
        return {**answer, "choices": [{**choice, "message": message}]}

    def without_retrievals(self, events: Sequence[Wire]) -> list[Wire]:
        """Drop retrieval calls from the deltas, and close the gaps in the indexes."""
        kept: list[Wire] = []
        dropped: set[int] = set()
        for event in events:
            calls = _delta(event).get("tool_calls")
            if not calls:
                kept.append(event)
                continue
            dropped |= {call.get("index", 0) for call in calls if self.is_retrieval(call)}
            rest = [
                {**call, "index": index - sum(other < index for other in dropped)}
                for call in calls
                if (index := call.get("index", 0)) not in dropped
            ]
            if rest:
                choice = _choice(event)
                delta = {**choice["delta"], "tool_calls": rest}
                kept.append({**event, "choices": [{**choice, "delta": delta}]})
        return kept


def _choice(data: Wire) -> Wire:
    choices = data.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return first if isinstance(first, dict) else {}


def _delta(data: Wire) -> Wire:
    delta = _choice(data).get("delta")
    return delta if isinstance(delta, dict) else {}


API: Final = _OpenAIChat()
