"""Two providers on loopback that a scripted model answers for: Anthropic, and OpenAI's responses.

They keep every request for `transcript` to look at.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.clients.scripted import Answer, Call, next_step

_SHELLS = ("Bash", "exec_command", "shell", "shell_command")


class Upstream(ThreadingHTTPServer):
    """Answers until it is closed; `requests` are those of the agent's conversation."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serving() -> Iterator[Upstream]:
    upstream = Upstream()
    thread = threading.Thread(target=upstream.serve_forever)
    thread.start()
    try:
        yield upstream
    finally:
        upstream.shutdown()
        thread.join()
        upstream.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Upstream
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._send("application/json", b'{"data": [], "models": []}')

    def do_HEAD(self) -> None:
        self._send("application/json", b"")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        self.server.paths.append(path)
        if path.endswith("/count_tokens"):
            self._send("application/json", b'{"input_tokens": 100}')
        elif path.endswith("/messages"):
            self._send("text/event-stream", _spell(self._messages(body)))
        elif path.endswith("/responses"):
            self._send("text/event-stream", _spell(self._responses(body)))
        else:
            self._send("application/json", b"{}")

    def _messages(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        tools = [tool["name"] for tool in body.get("tools") or []]
        shell = next((name for name in tools if name in _SHELLS), "")
        if not shell:  # a title for the session, and such
            return anthropic_events(Answer("{}"), 0)
        self.server.requests.append(body)
        step = next_step(shell, tools, json.dumps(body["messages"]), results_of(body))
        return anthropic_events(step, len(self.server.requests))

    def _responses(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        tools = list(response_tools(body.get("tools") or []))
        shell = next((name for name in tools if name in _SHELLS), "")
        if not shell:
            return response_events(Answer("{}"), 0)
        said = json.dumps(body["input"])
        if "CONTEXT CHECKPOINT COMPACTION" in said:
            return response_events(Answer("Some logs were read."), 0)
        self.server.requests.append(body)
        step = next_step(shell, tools, said, results_of(body))
        return response_events(step, len(self.server.requests), len(said) // 4)

    def _send(self, kind: str, data: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def _spell(events: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events
    )


def text_of(content: Any) -> str:
    """Return the text of a result: a string, or blocks with one each."""
    if isinstance(content, str):
        return content
    return "\n".join(block.get("text", "") for block in content)


def results_of(body: dict[str, Any]) -> list[str]:
    """Return what the tools have returned, as far as a request shows it."""
    if "input" in body:
        outputs = [item for item in body["input"] if item["type"] == "function_call_output"]
        return [text_of(item["output"]) for item in outputs]
    blocks = [block for message in body["messages"] for block in blocks_of(message)]
    return [text_of(block["content"]) for block in blocks if block["type"] == "tool_result"]


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def anthropic_events(step: Call | Answer, turn: int) -> list[dict[str, Any]]:
    thought = {"type": "thinking", "thinking": "", "signature": ""}
    if isinstance(step, Call):
        block = {"type": "tool_use", "id": f"toolu_{turn:02d}", "name": step.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
        reason = "tool_use"
    else:
        block, reason = {"type": "text", "text": ""}, "end_turn"
        delta = {"type": "text_delta", "text": step.text}
    message: dict[str, Any] = {
        "id": f"msg_{turn:02d}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }
    parts = [
        (thought, {"type": "signature_delta", "signature": f"signed{turn}"}),
        (block, delta),
    ]
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    for index, (start, change) in enumerate(parts):
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": change},
            {"type": "content_block_stop", "index": index},
        ]
    end = {"stop_reason": reason, "stop_sequence": None}
    return [
        *events,
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 20}},
        {"type": "message_stop"},
    ]


def response_tools(tools: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the names of tools; those of an MCP server may stand in a namespace."""
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from (f"{tool['name']}{inner['name']}" for inner in tool["tools"])
        elif "name" in tool:
            yield tool["name"]


def response_events(step: Call | Answer, turn: int, tokens: int = 10) -> list[dict[str, Any]]:
    if isinstance(step, Call):
        key = "cmd" if step.tool == "exec_command" else "command"
        arguments = dict(step.arguments)
        if "command" in arguments:
            arguments[key] = arguments.pop("command")
        item: dict[str, Any] = {
            "type": "function_call",
            "id": f"fc_{turn}",
            "call_id": f"call_{turn}",
            "name": step.tool,
            "arguments": json.dumps(arguments),
        }
    else:
        part = {"type": "output_text", "text": step.text, "annotations": []}
        item = {"type": "message", "id": f"m_{turn}", "role": "assistant", "content": [part]}
    response = {"id": f"resp_{turn}", "object": "response", "status": "in_progress", "output": []}
    usage = {
        "input_tokens": tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens + 5,
    }
    done = {**response, "status": "completed", "output": [item], "usage": usage}
    return [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
    ]
