"""A provider that does what the test says: a real HTTP server on loopback that speaks four APIs.

It answers with what it is scripted to, in one piece or as a stream, counts tokens as one with a
prompt cache does, and remembers every request. `check_prefixes` tells whether each conversation
only grew: that is what keeps a cache and bound thinking valid.

    with ScriptedUpstream(Call("Bash", {"command": "ls"}), Say("done")) as upstream:
        Anthropic(base_url=upstream.url)
"""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar
from zlib import crc32

from aiohttp import WSMsgType, web

from refold.messages.cache_marks import without_marks
from refold.server.proxy.apis import find_api
from tests.patience import FOR_EVER

T = TypeVar("T")
Wire = dict[str, Any]


@dataclass(frozen=True)
class Say:
    """Answer with a text."""

    text: str
    thinking: str = ""


@dataclass(frozen=True)
class Call:
    """Call a tool, after some words if there are any."""

    name: str
    arguments: Wire = field(default_factory=dict)
    text: str = ""
    also: tuple[Call, ...] = ()
    thinking: str = ""


@dataclass(frozen=True)
class Fail:
    """Answer with an error."""

    status: int
    message: str = "scripted"
    headers: tuple[tuple[str, str], ...] = (("retry-after-ms", "1"), ("x-should-retry", "false"))


@dataclass(frozen=True)
class Cut:
    """Break off in the middle of a stream."""

    text: str
    events: int = 2


@dataclass(frozen=True)
class Raw:
    """Answer with these bytes."""

    body: bytes
    content_type: str = "text/event-stream"
    encoding: str = ""


@dataclass(frozen=True)
class Zipped:
    """Answer with a text, packed."""

    text: str


@dataclass(frozen=True)
class Check:
    """Decide by looking at the request."""

    decide: Callable[[Request], Step]


Step = Say | Call | Fail | Cut | Raw | Zipped | Check


@dataclass(frozen=True)
class Request:
    """What came."""

    path: str
    headers: dict[str, str]
    raw: bytes
    method: str = "POST"

    @property
    def body(self) -> Wire:
        found: Wire = json.loads(self.raw)
        return found

    @property
    def messages(self) -> list[Any]:
        api = find_api(self.path)
        assert api is not None
        found: list[Any] = without_marks(self.body[api.key])
        return found


class LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.start(work).result(FOR_EVER)

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self) -> None:
        self.run(self.loop.shutdown_asyncgens())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(FOR_EVER)
        self.loop.close()


class ScriptedUpstream:
    """Follows its script, and then says `done` for ever."""

    def __init__(self, *script: Step, otherwise: Step | None = None) -> None:
        self.script = deque(script)
        self.otherwise = otherwise or Say("done")
        self.requests: list[Request] = []
        self.pause: Callable[[], Awaitable[None]] | None = None
        """Awaited between the events of a stream."""
        self._seen: set[str] = set()
        self._threads = LoopThread()
        self._runner: web.AppRunner | None = None
        self.url = ""

    def __enter__(self) -> ScriptedUpstream:
        self._threads.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._runner is not None:
            self._threads.run(self._runner.cleanup())
            self._threads.close()
            self._runner = None

    async def _start(self, port: int = 0) -> None:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_get("/v1/socket/responses", self._socket)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    def forget(self) -> None:
        """Begin anew: without a script, and as if nothing had been asked."""
        self.script.clear()
        self.requests.clear()
        self._seen.clear()

    def check_prefixes(self) -> None:
        """Fail if a request did not begin with what the one before it of the same task had."""
        before: dict[str, list[Any]] = {}
        for request in self.requests:
            if find_api(request.path) is None or "count" in request.path:
                continue
            messages = request.messages
            first = json.dumps(messages[0], sort_keys=True)
            known = before.get(first, [])
            if len(messages) >= len(known):
                assert messages[: len(known)] == known, f"request {len(before)} changed its past"
            before[first] = messages

    async def _answer(self, incoming: web.Request) -> web.StreamResponse:
        raw = await incoming.read()
        headers = {name.lower(): value for name, value in incoming.headers.items()}
        request = Request(incoming.path_qs.partition("?")[0], headers, raw, incoming.method)
        self.requests.append(request)
        if find_api(request.path) is None:
            body = {"path": incoming.path_qs, "method": incoming.method, "bytes": len(raw)}
            return web.json_response(body, headers={"x-upstream": "yes"})
        if "count" in request.path:
            return web.json_response({"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4})
        step = self.script.popleft() if self.script else self.otherwise
        while isinstance(step, Check):
            step = step.decide(request)
        return await self._follow(incoming, request, step)

    async def _follow(
        self, incoming: web.Request, request: Request, step: Step
    ) -> web.StreamResponse:
        usage = self._count(request)
        is_streamed = "stream" in request.path or request.body.get("stream") is True
        match step:
            case Fail(status, message, headers):
                body = {"type": "error", "error": {"type": "scripted", "message": message}}
                return web.json_response(body, status=status, headers=dict(headers))
            case Raw(body=data, content_type=kind, encoding=encoding):
                packed = {"content-encoding": encoding} if encoding else {}
                return web.Response(body=data, headers={"content-type": kind, **packed})
            case Zipped(text):
                if is_streamed:
                    data, kind = b"".join(stream(request, Say(text), usage)), "text/event-stream"
                else:
                    data = json.dumps(whole(request, Say(text), usage)).encode()
                    kind = "application/json"
                packed = {"content-encoding": "gzip", "content-type": kind}
                return web.Response(body=gzip.compress(data), headers=packed)
            case Cut(text, events):
                response = await self._begin(incoming)
                for event in list(stream(request, Say(text), usage))[:events]:
                    await response.write(event)
                assert incoming.transport is not None
                incoming.transport.abort()
                return response
            case Say() | Call():
                if not is_streamed:
                    return web.json_response(whole(request, step, usage))
                response = await self._begin(incoming)
                for event in stream(request, step, usage):
                    await response.write(event)
                    if self.pause is not None:
                        await self.pause()
                await response.write_eof()
                return response
            case Check():
                raise AssertionError("was decided")

    async def _begin(self, incoming: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(incoming)
        return response

    async def _socket(self, incoming: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(incoming)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                request = Request("/v1/responses", {}, message.data.encode(), "WS")
                self.requests.append(request)
                done = _response(request, Say("done"), self._count(request))
                await socket.send_json({"type": "response.completed", "response": done})
            elif message.type is WSMsgType.BINARY:
                await socket.send_bytes(message.data)
        return socket

    def _count(self, request: Request) -> tuple[int, int, int]:
        """Return tokens read from the cache, written to it, and of the answer."""
        read = total = 0
        prefix = ""
        for message in request.messages:
            prefix += json.dumps(message, sort_keys=True)
            total = len(prefix) // 4
            if prefix in self._seen:
                read = total
            self._seen.add(prefix)
        return read, total - read, 20


def whole(request: Request, step: Say | Call, usage: tuple[int, int, int]) -> Wire:
    """Spell an answer in one piece."""
    read, written, output = usage
    api = find_api(request.path)
    assert api is not None
    match api.name:
        case "anthropic":
            return {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": request.body.get("model", "in the path"),
                "content": _blocks(step),
                "stop_reason": "tool_use" if isinstance(step, Call) else "end_turn",
                "stop_sequence": None,
                "usage": _anthropic_usage(usage),
            }
        case "openai-chat":
            return {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": request.body.get("model", "in the path"),
                "choices": [{"index": 0, "message": _message(step), "finish_reason": _why(step)}],
                "usage": _openai_usage(usage),
            }
        case "openai-responses":
            return _response(request, step, usage)
        case _:
            return {
                "candidates": [
                    {
                        "index": 0,
                        "content": {"role": "model", "parts": _parts(step)},
                        "finishReason": "STOP",
                    }
                ],
                "modelVersion": "gemini-2.5-pro",
                "usageMetadata": {
                    "promptTokenCount": read + written,
                    "cachedContentTokenCount": read,
                    "candidatesTokenCount": output,
                    "totalTokenCount": read + written + output,
                },
            }


def stream(request: Request, step: Say | Call, usage: tuple[int, int, int]) -> Iterator[bytes]:
    """Spell an answer as events."""
    api = find_api(request.path)
    assert api is not None
    match api.name:
        case "anthropic":
            yield from _anthropic_stream(request, step, usage)
        case "openai-chat":
            yield from _chat_stream(request, step, usage)
        case "openai-responses":
            yield from _responses_stream(request, step, usage)
        case _:
            answer = whole(request, step, usage)
            content = answer["candidates"][0]["content"]
            for part in content["parts"]:
                one = {"index": 0, "content": {**content, "parts": [part]}}
                yield _event({"candidates": [one], "modelVersion": "gemini-2.5-pro"})
            last = {**answer["candidates"][0], "content": {"role": "model", "parts": []}}
            yield _event({**answer, "candidates": [last]})


def _event(data: Wire, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def _calls(step: Say | Call) -> Sequence[Call]:
    return (step, *step.also) if isinstance(step, Call) else ()


def _id_of(call: Call) -> str:
    return f"call_{number_of([call.name, call.arguments])}"


def number_of(value: object) -> int:
    """Return a number that stands for a value, the same in every process."""
    return crc32(json.dumps(value, sort_keys=True).encode())


def _blocks(step: Say | Call) -> list[Wire]:
    thought = {"type": "thinking", "thinking": step.thinking, "signature": "c2ln"}
    blocks: list[Wire] = [thought] if step.thinking else []
    blocks += [{"type": "text", "text": step.text}] if step.text else []
    blocks += [
        {"type": "tool_use", "id": _id_of(call), "name": call.name, "input": call.arguments}
        for call in _calls(step)
    ]
    return blocks


def _anthropic_usage(usage: tuple[int, int, int]) -> Wire:
    read, written, output = usage
    return {
        "input_tokens": 3,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
    }


def _anthropic_stream(
    request: Request, step: Say | Call, usage: tuple[int, int, int]
) -> Iterator[bytes]:
    answer = whole(request, step, usage)
    start = {**answer, "content": [], "stop_reason": None}
    yield _event({"type": "message_start", "message": start}, "message_start")
    yield _event({"type": "ping"}, "ping")
    for index, block in enumerate(answer["content"]):
        empty = dict(block)
        deltas: list[Wire]
        match block["type"]:
            case "text":
                empty["text"] = ""
                words = block["text"].split(" ")
                pieces = [*(f"{word} " for word in words[:-1]), words[-1]]
                deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
            case "thinking":
                empty |= {"thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": block["thinking"]}]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            case _:
                empty["input"] = {}
                spelt = json.dumps(block["input"])
                pieces = [spelt[:5], spelt[5:]]
                deltas = [{"type": "input_json_delta", "partial_json": p} for p in pieces]
        started = {"type": "content_block_start", "index": index, "content_block": empty}
        yield _event(started, "content_block_start")
        for delta in deltas:
            said = {"type": "content_block_delta", "index": index, "delta": delta}
            yield _event(said, "content_block_delta")
        yield _event({"type": "content_block_stop", "index": index}, "content_block_stop")
    end = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    final = {"type": "message_delta", "delta": end, "usage": {"output_tokens": usage[2]}}
    yield _event(final, "message_delta")
    yield _event({"type": "message_stop"}, "message_stop")


def _message(step: Say | Call) -> Wire:
    message: Wire = {"role": "assistant", "content": step.text or None}
    calls = [
        {
            "id": _id_of(call),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for call in _calls(step)
    ]
    return {**message, "tool_calls": calls} if calls else message


def _why(step: Say | Call) -> str:
    return "tool_calls" if isinstance(step, Call) else "stop"


def _openai_usage(usage: tuple[int, int, int]) -> Wire:
    read, written, output = usage
    return {
        "prompt_tokens": read + written,
        "completion_tokens": output,
        "total_tokens": read + written + output,
        "prompt_tokens_details": {"cached_tokens": read},
    }


def _chat_stream(
    request: Request, step: Say | Call, usage: tuple[int, int, int]
) -> Iterator[bytes]:
    about = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": request.body.get("model", "in the path"),
    }

    def chunk(delta: Wire, why: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": why}
        return _event({**about, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    for word in step.text.split(" ") if step.text else ():
        yield chunk({"content": f"{word} "})
    for index, call in enumerate(_message(step).get("tool_calls", ())):
        begun = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        yield chunk({"tool_calls": [begun]})
        spelt = call["function"]["arguments"]
        for piece in (spelt[:5], spelt[5:]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, _why(step))
    yield _event({**about, "choices": [], "usage": _openai_usage(usage)})
    yield b"data: [DONE]\n\n"


def _items(step: Say | Call) -> list[Wire]:
    items: list[Wire] = []
    if step.text:
        content = {"type": "output_text", "text": step.text, "annotations": []}
        about = {"type": "message", "role": "assistant", "status": "completed"}
        items.append({**about, "id": f"msg_{number_of(step.text)}", "content": [content]})
    return items + [
        {
            "type": "function_call",
            "id": f"fc_{_id_of(call)}",
            "call_id": _id_of(call),
            "name": call.name,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        for call in _calls(step)
    ]


def _response(request: Request, step: Say | Call, usage: tuple[int, int, int]) -> Wire:
    read, written, output = usage
    return {
        "id": f"resp_{number_of(request.body)}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": request.body.get("model", "in the path"),
        "output": _items(step),
        "tools": request.body.get("tools", []),
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "usage": {
            "input_tokens": read + written,
            "input_tokens_details": {"cached_tokens": read},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written + output,
        },
    }


def _responses_stream(
    request: Request, step: Say | Call, usage: tuple[int, int, int]
) -> Iterator[bytes]:
    answer = _response(request, step, usage)
    numbers = iter(range(10_000))

    def event(name: str, /, **said: Any) -> bytes:
        return _event({"type": name, "sequence_number": next(numbers), **said}, name)

    yield event("response.created", response={**answer, "output": [], "usage": None})
    for index, item in enumerate(answer["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            text = item["content"][0]["text"]
            empty = {**item, "content": [], "status": "in_progress"}
            part = {"type": "output_text", "text": "", "annotations": []}
            yield event("response.output_item.added", output_index=index, item=empty)
            yield event("response.content_part.added", **place, content_index=0, part=part)
            said = {**place, "content_index": 0, "logprobs": []}
            yield event("response.output_text.delta", **said, delta=text)
            yield event("response.output_text.done", **said, text=text)
            part = {**part, "text": text}
            yield event("response.content_part.done", **place, content_index=0, part=part)
        else:
            empty = {**item, "arguments": "", "status": "in_progress"}
            yield event("response.output_item.added", output_index=index, item=empty)
            spelt = item["arguments"]
            yield event("response.function_call_arguments.delta", **place, delta=spelt)
            done = "response.function_call_arguments.done"
            yield event(done, **place, arguments=spelt, name=item["name"])
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=answer)


def _parts(step: Say | Call) -> list[Wire]:
    parts: list[Wire] = [{"text": step.text}] if step.text else []
    return parts + [
        {"functionCall": {"id": _id_of(call), "name": call.name, "args": call.arguments}}
        for call in _calls(step)
    ]
