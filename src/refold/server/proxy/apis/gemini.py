"""Gemini: `models/…:generateContent`, its stream and `countTokens`; contents have parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from refold.server.proxy.apis.base import (
    TOOL_NAME,
    Api,
    RetrievalCall,
    Turn,
    Usage,
    Wire,
    count_of,
)
from refold.tools.retrieve import retrieve_tool


class _Gemini(Api):
    """The Gemini API; Vertex AI has the same paths and shapes."""

    name = "gemini"
    provider = "gemini"
    format = "gemini"
    path = re.compile(r"/models/([^/:]+):(?:generateContent|streamGenerateContent|countTokens)\Z")
    counting = (":countTokens",)
    key = "contents"
    answer_role = "model"
    pieces = "parts"
    wraps_results = True
    beside = ("systemInstruction", "system_instruction", "tools")

    def model_of(self, body: Wire, path: str) -> str | None:
        del body
        match = self.path.search(path)
        return match[1] if match else None

    def has_tools(self, body: Wire) -> bool:
        """Return whether there are functions; they cannot be mixed with other kinds of tools."""
        tools = body.get("tools")
        return isinstance(tools, list) and any(_functions(tool) for tool in tools)

    def offer_retrieval(self, body: Wire) -> Wire:
        """Declare one more function where others are declared."""
        schema = retrieve_tool({}, name=TOOL_NAME).schema["function"]
        parameters = {k: v for k, v in schema["parameters"].items() if k != "additionalProperties"}
        declared = {**schema, "parameters": parameters}
        tools = list(body["tools"])
        place = next(place for place, tool in enumerate(tools) if _functions(tool))
        name = _functions(tools[place])
        tools[place] = {**tools[place], name: [*tools[place][name], declared]}
        return {**body, "tools": tools}

    def read_usage(self, data: Wire, known: Usage) -> Usage:
        """Read `usageMetadata`; every chunk has the totals so far."""
        usage = data.get("usageMetadata")
        if not isinstance(usage, dict):
            return known
        read = count_of(usage.get("cachedContentTokenCount"))
        output = count_of(usage.get("candidatesTokenCount")) + count_of(
            usage.get("thoughtsTokenCount")
        )
        return Usage(
            uncached=max(0, count_of(usage.get("promptTokenCount")) - read),
            cache_read=read,
            output=output or known.output,
        )

    def starts_retrieval(self, data: Wire) -> bool:
        """Return whether a chunk has a retrieval call; calls come in one piece."""
        return any(map(self.is_retrieval, _parts(data)))

    def read_stream(self, events: Sequence[Wire]) -> Turn:
        """Join the parts of all chunks."""
        return self.split_turn([part for event in events for part in _parts(event)])

    def read_answer(self, answer: Wire) -> Turn:
        return self.split_turn(_parts(answer))

    def result(self, call: RetrievalCall, text: str) -> Wire:
        named = {"id": call.id} if call.id else {}
        answer = {**named, "name": TOOL_NAME, "response": {"result": text}}
        return {"functionResponse": answer}

    def tool_called(self, piece: Wire) -> str | None:
        call = piece.get("functionCall")
        return str(call.get("name")) if isinstance(call, dict) else None

    def read_call(self, piece: Wire) -> RetrievalCall:
        call = piece["functionCall"]
        return RetrievalCall(call.get("id") or "", call.get("args") or {})

    def join(self, visible: Sequence[Any], answer: Wire) -> Wire:
        candidates = answer.get("candidates")
        if not isinstance(candidates, list) or not candidates:
            return answer
        parts = [*visible, *self.kept(_parts(answer))]
        content = {"role": "model", **(candidates[0].get("content") or {}), "parts": parts}
        return {**answer, "candidates": [{**candidates[0], "content": content}]}

    def without_retrievals(self, events: Sequence[Wire]) -> list[Wire]:
        return [self.join((), event) if self.starts_retrieval(event) else event for event in events]


def _functions(tool: object) -> str:
    """Return the key of a tool's functions; empty if it has none."""
    names = ("functionDeclarations", "function_declarations")
    if not isinstance(tool, dict):
        return ""
    return next((name for name in names if isinstance(tool.get(name), list)), "")


def _parts(data: Wire) -> list[Wire]:
    candidates = data.get("candidates")
    first = candidates[0] if isinstance(candidates, list) and candidates else {}
    parts = (first.get("content") or {}).get("parts") if isinstance(first, dict) else None
    return parts if isinstance(parts, list) else []


API: Final = _Gemini()
