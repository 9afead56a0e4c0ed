"""A model that does what the test says: a real HTTP server on loopback, speaking three dialects.

`POST /v1/chat/completions` (OpenAI), `/v1/messages` (Anthropic) and `…:generateContent` (Gemini).
What it answers is scripted: a queue of behaviours, and one for when the queue is empty.

    with ModelServer(rate_limited(), summarize_well) as server:
        OpenAISummarizer("test", base_url=server.openai_url)
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

from tests.patience import FOR_EVER

Ending = Literal["stop", "length", "filtered", "refusal", "tools"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came in."""

    path: str
    headers: Mapping[str, str]
    """By their names in small letters."""
    body: dict[str, Any]

    @property
    def system(self) -> str:
        """The instructions."""
        if "system_instruction" in self.body or "systemInstruction" in self.body:
            found = self.body.get("systemInstruction") or self.body["system_instruction"]
            return _gemini_text(found)
        if isinstance(self.body.get("system"), str):
            return str(self.body["system"])
        return "\n".join(m["content"] for m in self._messages if m["role"] == "system")

    @property
    def user(self) -> str:
        """The last thing said by the user."""
        if "contents" in self.body:
            return _gemini_text(self.body["contents"][-1])
        return str([m["content"] for m in self._messages if m["role"] == "user"][-1])

    @property
    def data(self) -> str:
        """What stands between the fences, if there are any; else the user's words."""
        fenced = re.search(r"<<<data (\w+)\n(.*)\n\1 data>>>", self.user, re.DOTALL)
        return fenced[2] if fenced else self.user

    @property
    def _messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model wants made."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    id: str = "call_1"


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server sends back."""

    text: str = ""
    status: int = 200
    ending: Ending = "stop"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay_seconds: float = 0.0
    tool_calls: tuple[ToolCall, ...] = ()
    raw: str | None = None
    """The whole body, instead of one made of the text."""
    is_cut: bool = False
    """Send only the first half of the body."""


Behaviour = Callable[[Asked], Reply]


def says(text: str, *, ending: Ending = "stop") -> Behaviour:
    """Answer *text*, whatever was asked."""
    return lambda asked: Reply(text, ending=ending)


def summarize_well(asked: Asked) -> Reply:
    """Keep the sentences with something in them that looks like a fact; drop the others."""
    sentences = re.split(r"(?<=[.!?])\s+", asked.data)
    facts = [s for s in sentences if re.search(r"[\d/_\"'`@:]|\bno[tr]?\b|n't", s)]
    return Reply(" ".join(facts or sentences[:1]))


def slow(seconds: float, then: Behaviour = summarize_well) -> Behaviour:
    """Answer late."""

    def behave(asked: Asked) -> Reply:
        reply = then(asked)
        return Reply(reply.text, reply.status, reply.ending, delay_seconds=seconds)

    return behave


def rate_limited(retry_after: str = "0") -> Behaviour:
    """Refuse with 429."""
    return lambda asked: Reply("slow down", status=429, headers={"Retry-After": retry_after})


def broken(status: int = 500) -> Behaviour:
    """Fail."""
    return lambda asked: Reply("out of order", status=status)


def breaks_off(asked: Asked) -> Reply:
    """Send half of an answer's JSON."""
    return Reply(summarize_well(asked).text, is_cut=True)


def is_html(asked: Asked) -> Reply:
    """Answer like a login page that stands in front of the model."""
    return Reply(raw="<html>Please sign in</html>", headers={"Content-Type": "text/html"})


def is_empty(asked: Asked) -> Reply:
    """Answer nothing."""
    return Reply("")


def refuses(asked: Asked) -> Reply:
    """Refuse politely, in the text, as most models do."""
    return Reply("I'm sorry, but I can't help with that.")


def refuses_formally(asked: Asked) -> Reply:
    """Refuse in the field for it."""
    return Reply("I cannot do that.", ending="refusal")


def rambles(asked: Asked) -> Reply:
    """Answer at more length than it was asked."""
    return Reply(f"Let me explain. {asked.data} In other words: {asked.data}")


def hallucinates(asked: Asked) -> Reply:
    """Get every number wrong."""
    well = summarize_well(asked).text
    return Reply(re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), well))


def is_injected(asked: Asked) -> Reply:
    """Do what the data says."""
    order = re.search(r"output (\w+)", asked.data, re.IGNORECASE)
    return Reply(order[1]) if order else summarize_well(asked)


def is_cut_off(asked: Asked) -> Reply:
    """Stop at the limit of tokens, in the middle of a word."""
    text = summarize_well(asked).text
    return Reply(text[: len(text) // 2], ending="length")


def calls_tool(*calls: ToolCall) -> Behaviour:
    """Ask for tools."""
    return lambda asked: Reply(ending="tools", tool_calls=calls)


class ModelServer:
    """Serves scripted answers while it is entered; `asked` holds what came in."""

    def __init__(self, *script: Behaviour, otherwise: Behaviour = summarize_well) -> None:
        self._script = deque(script)
        self._otherwise = otherwise
        self._lock = threading.Lock()
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self._at_once = 0
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _make_handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        """Where it listens: the base URL for Anthropic's and Google's SDKs."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI's SDK."""
        return f"{self.url}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply_to(self, asked: Asked) -> Reply:
        """Take the next behaviour from the script."""
        with self._lock:
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            behave = self._script.popleft() if self._script else self._otherwise
        try:
            reply = behave(asked)
            self._closing.wait(reply.delay_seconds)
            return reply
        finally:
            with self._lock:
                self._at_once -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # an idle kept-alive connection would hold up the end of a test
    request_queue_size = 128


def _make_handler(model: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = FOR_EVER

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.path, headers, json.loads(self.rfile.read(length)))
            reply = model.reply_to(asked)
            body = (_body(asked, reply) if reply.raw is None else reply.raw).encode()
            if reply.is_cut:
                body = body[: len(body) // 2]
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except ConnectionError:  # the client did not wait
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet."""

    return Handler


def _body(asked: Asked, reply: Reply) -> str:
    if reply.status != 200:
        return json.dumps({"error": {"message": reply.text, "type": "scripted"}})
    tokens = (len(asked.system) + len(asked.user)) // 4, len(reply.text) // 4
    if asked.path.endswith("/chat/completions"):
        return json.dumps(_openai(asked, reply, *tokens))
    if asked.path.endswith("/messages"):
        return json.dumps(_anthropic(asked, reply, *tokens))
    return json.dumps(_gemini(reply, *tokens))


def _openai(asked: Asked, reply: Reply, tokens_in: int, tokens_out: int) -> dict[str, Any]:
    endings = {"refusal": "stop", "tools": "tool_calls", "filtered": "content_filter"}
    is_refusal = reply.ending == "refusal"
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if is_refusal else reply.text,
        "refusal": reply.text if is_refusal else None,
    }
    if reply.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in reply.tool_calls
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.body["model"],
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": endings.get(reply.ending, reply.ending),
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }


def _anthropic(asked: Asked, reply: Reply, tokens_in: int, tokens_out: int) -> dict[str, Any]:
    endings = {
        "stop": "end_turn",
        "length": "max_tokens",
        "filtered": "refusal",
        "refusal": "refusal",
        "tools": "tool_use",
    }
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
        for call in reply.tool_calls
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": content,
        "stop_reason": endings[reply.ending],
        "stop_sequence": None,
        "usage": {"input_tokens": tokens_in, "output_tokens": tokens_out},
    }


def _gemini(reply: Reply, tokens_in: int, tokens_out: int) -> dict[str, Any]:
    usage = {"promptTokenCount": tokens_in, "candidatesTokenCount": tokens_out}
    if reply.ending == "refusal":
        return {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage}
    endings = {"length": "MAX_TOKENS", "filtered": "SAFETY"}
    return {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": reply.text}]},
                "finishReason": endings.get(reply.ending, "STOP"),
            }
        ],
        "usageMetadata": usage,
    }


def _gemini_text(content: dict[str, Any]) -> str:
    return "".join(part["text"] for part in content["parts"])
