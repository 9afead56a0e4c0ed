"""Gemini: `models/…:generateContent`, its stream and `countTokens`; contents have parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Final

from refold.server.proxy.apis.base import (
    TOOL_NAME,
    Api,
    OwnCall,
    Provider,
    Round,
    Turn,
    Usage,
    Wire,
    whole,
)
from refold.tools.retrieve import retrieve_tool

_PATH: Final = re.compile(
    r"/models/([^/:]+):(generateContent|streamGenerateContent|countTokens)", re.ASCII
)


class Gemini(Api):
    """The Gemini API; Vertex AI has the same paths and shapes."""

    name: ClassVar[str] = "gemini"
    provider: ClassVar[Provider] = "gemini"
    format: ClassVar[str] = "gemini"
    key: ClassVar[str] = "contents"
    beside: ClassVar[tuple[str, ...]] = ("systemInstruction", "system_instruction", "tools")

    def matches(self, path: str) -> bool:
        """Tell whether *path* names a model and one of the three methods."""
        return path.endswith(("Content", "countTokens")) and _PATH.search(path) is not None

    def model_of(self, body: Wire, path: str) -> str | None:
        """Return the model that the path names."""
        del body
        found = _PATH.search(path)
        return found[1] if found else None

    def is_counting(self, path: str) -> bool:
        """Tell whether tokens are only counted."""
        return path.endswith(":countTokens")

    def has_tools(self, body: Wire) -> bool:
        """Tell whether there are functions to call; they cannot stand beside other tools."""
        tools = body.get("tools")
        return isinstance(tools, list) and any(_functions(tool) for tool in tools)

    def offer(self, body: Wire) -> Wire:
        """Declare one function more, where others are declared."""
        schema = retrieve_tool({}, name=TOOL_NAME).schema["function"]
        parameters = {k: v for k, v in schema["parameters"].items() if k != "additionalProperties"}
        declared = {**schema, "parameters": parameters}
        tools = list(body["tools"])
        place = next(place for place, tool in enumerate(tools) if _functions(tool))
        name = _functions(tools[place])
        tools[place] = {**tools[place], name: [*tools[place][name], declared]}
        return {**body, "tools": tools}

    def usage_of(self, said: Wire, known: Usage) -> Usage:
        """Read `usageMetadata`; every chunk has the sum so far."""
        usage = said.get("usageMetadata")
        if not isinstance(usage, dict):
            return known
        read = whole(usage.get("cachedContentTokenCount"))
        output = whole(usage.get("candidatesTokenCount")) + whole(usage.get("thoughtsTokenCount"))
        return Usage(
            uncached=max(0, whole(usage.get("promptTokenCount")) - read),
            cache_read=read,
            output=output or known.output,
        )

    def starts_own_call(self, said: Wire) -> bool:
        """Tell whether a chunk has a call of ours; it comes whole."""
        return any(map(_is_own, _parts(said)))

    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Join the parts of all chunks."""
        return _take_apart([part for event in events for part in _parts(event)])

    def read_answer(self, answer: Wire) -> Turn:
        """Read the parts of the first candidate."""
        return _take_apart(_parts(answer))

    def results(self, turn: Turn, texts: Sequence[str]) -> list[Wire]:
        """Answer with one content that has a response a call."""
        parts = []
        for call, text in zip(turn.calls, texts, strict=True):
            named = {"id": call.id} if call.id else {}
            answer = {**named, "name": TOOL_NAME, "response": {"result": text}}
            parts.append({"functionResponse": answer})
        return [*turn.wires, {"role": "user", "parts": parts}]

    def join(self, shown: Sequence[Any], answer: Wire) -> Wire:
        """Put parts before those of the first candidate."""
        candidates = answer.get("candidates")
        if not isinstance(candidates, list) or not candidates:
            return answer
        parts = [*shown, *(part for part in _parts(answer) if not _is_own(part))]
        content = {"role": "model", **(candidates[0].get("content") or {}), "parts": parts}
        return {**answer, "candidates": [{**candidates[0], "content": content}]}

    def shift(self, event: Wire, shown: Sequence[Any], name: str) -> Wire | None:
        """Leave a chunk as it is: parts simply go on."""
        del shown, name
        return event

    def without_own(self, events: Sequence[Wire]) -> list[Wire]:
        """Leave parts of ours out of the chunks."""
        return [self.join((), event) if self.starts_own_call(event) else event for event in events]

    def insert(self, messages: Sequence[Wire], rounds: Sequence[Round]) -> list[Wire]:
        """Split the first content, the model's, where it was interrupted."""
        if not messages or messages[0].get("role") != "model":
            return list(messages)
        inserted = [wire for _, wires in rounds for wire in wires]
        start = sum(shown for shown, _ in rounds)
        parts = messages[0].get("parts")
        if not isinstance(parts, list) or len(parts) < start:
            return [*inserted, *messages]
        rest = [{**messages[0], "parts": parts[start:]}] if parts[start:] else []
        return [*inserted, *rest, *messages[1:]]


def _functions(tool: object) -> str:
    """Return how a tool spells its functions; empty if it has none."""
    names = ("functionDeclarations", "function_declarations")
    if not isinstance(tool, dict):
        return ""
    return next((name for name in names if isinstance(tool.get(name), list)), "")


def _parts(said: Wire) -> list[Wire]:
    candidates = said.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else {}
    parts = (first.get("content") or {}).get("parts") if isinstance(first, dict) else None
    return parts if isinstance(parts, list) else []


def _is_own(part: Wire) -> bool:
    return (part.get("functionCall") or {}).get("name") == TOOL_NAME


def _take_apart(parts: Sequence[Wire]) -> Turn:
    own = [place for place, part in enumerate(parts) if _is_own(part)]
    if not own:
        return Turn(shown=parts)
    shown = parts[: own[0]]
    calls = [parts[place]["functionCall"] for place in own]
    return Turn(
        shown=shown,
        calls=[OwnCall(call.get("id") or "", call.get("args") or {}) for call in calls],
        is_mixed=any("functionCall" in part for part in shown),
        wires=[{"role": "model", "parts": [*shown, *(parts[place] for place in own)]}],
    )
