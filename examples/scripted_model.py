"""A model that needs no key: a small server on this machine that speaks the OpenAI protocol.

It reads what it is sent, calls the tool `read_log` for one day after the other, and shortens a text
when it is asked to. So the examples run anywhere, and always the same way.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.request import Request, urlopen

_DATA = re.compile(r"<<<data (\w+)\n(.*)\n\1 data>>>", re.DOTALL)


class ScriptedModel:
    """Serves while it is entered; `chat` and `generate` are its clients."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens, as the base URL of a client."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def chat(self, messages: Sequence[Mapping[str, Any]], *, tools: bool = True) -> dict[str, Any]:
        """Send a conversation, and return the message that comes back."""
        body = {"model": "scripted", "messages": messages, "tools": ["read_log"] if tools else []}
        request = Request(
            f"{self.url}/chat/completions",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urlopen(request, timeout=30) as answer:
            message: dict[str, Any] = json.load(answer)["choices"][0]["message"]
        return message

    def generate(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Answer a question without tools: what refold wants as `generate` and as `llm`."""
        return str(self.chat(messages, tools=False)["content"])


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = _next_call(asked["messages"]) if asked["tools"] else _shorter(asked["messages"])
        body = json.dumps({"choices": [{"message": message}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""


def _next_call(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Call the tool for the day after the last one that was called for."""
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    last = json.loads(calls[-1]["function"]["arguments"])["day"] if calls else 0
    function = {"name": "read_log", "arguments": json.dumps({"day": last + 1})}
    call = {"id": f"call_{last + 1}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _shorter(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Keep the sentences with something in them that looks like a fact."""
    asked = str(messages[-1]["content"])
    fenced = _DATA.search(asked)
    sentences = re.split(r"(?<=[.!?])\s+", fenced[2] if fenced else asked)
    facts = [s for s in sentences if re.search(r"\d|\bno[tr]?\b|Nobody", s)]
    return {"role": "assistant", "content": " ".join(facts or sentences[:1])}
