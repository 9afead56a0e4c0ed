"""A model that needs no key: the server of the tests, with a script for an agent.

It reads what it is sent, calls the tool `read_log` for one day after the other, and shortens a text
when it is asked to. So the examples run anywhere, and always the same way.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.model_server import Asked, ModelServer, Reply, ToolCall, summarize_well


class ScriptedModel(ModelServer):
    """Serves while it is entered; `chat` and `generate` are its clients."""

    def __init__(self) -> None:
        super().__init__(otherwise=_answer)

    def chat(self, messages: Sequence[Mapping[str, Any]], *, tools: bool = True) -> dict[str, Any]:
        """Send a conversation, and return the message that comes back."""
        body = {"model": "scripted", "messages": messages, "tools": ["read_log"] if tools else []}
        request = Request(
            f"{self.openai_url}/chat/completions",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urlopen(request, timeout=30) as answer:
            message: dict[str, Any] = json.load(answer)["choices"][0]["message"]
        return message

    def generate(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Answer a question without tools: what refold wants as `generate` and as `llm`."""
        return str(self.chat(messages, tools=False)["content"])


def _answer(asked: Asked) -> Reply:
    """Call the tool for the day after the last one that was called for, or shorten a text."""
    if not asked.body["tools"]:
        return summarize_well(asked)
    calls = [call for message in asked.body["messages"] for call in message.get("tool_calls") or ()]
    day = json.loads(calls[-1]["function"]["arguments"])["day"] + 1 if calls else 1
    call = ToolCall("read_log", {"day": day}, id=f"call_{day}")
    return Reply(ending="tools", tool_calls=(call,))
