"""Gemini: `models/…:generateContent`, its stream and `countTokens`; contents have parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from refold.server.proxy.apis.base import (
    TOOL_NAME,
    OwnCall,
    PiecewiseApi,
    Turn,
    Usage,
    Wire,
    whole,
)
from refold.tools.retrieve import retrieve_tool

_PATH: Final = re.compile(
    r"/models/([^/:]+):(generateContent|streamGenerateContent|countTokens)", re.ASCII
)


class _Gemini(PiecewiseApi):
    """The Gemini API; Vertex AI has the same paths and shapes."""

    name = "gemini"
    provider = "gemini"
    format = "gemini"
    key = "contents"
    answer_role = "model"
    pieces = "parts"
    wraps_results = True
    beside = ("systemInstruction", "system_instruction", "tools")

    def matches(self, path: str) -> bool:
        return path.endswith(("Content", "countTokens")) and _PATH.search(path) is not None

    def model_of(self, body: Wire, path: str) -> str | None:
        del body
        found = _PATH.search(path)
        return found[1] if found else None

    def is_counting(self, path: str) -> bool:
        return path.endswith(":countTokens")

    def has_tools(self, body: Wire) -> bool:
        """Return whether there are functions to call; they cannot stand beside other tools."""
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
        """Return whether a chunk has a call of ours; it comes whole."""
        return any(map(self.is_own, _parts(said)))

    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Join the parts of all chunks."""
        return self.take_apart([part for event in events for part in _parts(event)])

    def read_answer(self, answer: Wire) -> Turn:
        return self.take_apart(_parts(answer))

    def result(self, call: OwnCall, text: str) -> Wire:
        named = {"id": call.id} if call.id else {}
        answer = {**named, "name": TOOL_NAME, "response": {"result": text}}
        return {"functionResponse": answer}

    def called(self, piece: Wire) -> str | None:
        call = piece.get("functionCall")
        return str(call.get("name")) if isinstance(call, dict) else None

    def own_call(self, piece: Wire) -> OwnCall:
        call = piece["functionCall"]
        return OwnCall(call.get("id") or "", call.get("args") or {})

    def join(self, shown: Sequence[Any], answer: Wire) -> Wire:
        candidates = answer.get("candidates")
        if not isinstance(candidates, list) or not candidates:
            return answer
        parts = [*shown, *(part for part in _parts(answer) if not self.is_own(part))]
        content = {"role": "model", **(candidates[0].get("content") or {}), "parts": parts}
        return {**answer, "candidates": [{**candidates[0], "content": content}]}

    def without_own(self, events: Sequence[Wire]) -> list[Wire]:
        return [self.join((), event) if self.starts_own_call(event) else event for event in events]


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


API: Final = _Gemini()
