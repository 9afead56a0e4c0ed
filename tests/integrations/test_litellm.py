"""RefoldLogger among the callbacks of LiteLLM, of the SDK and of the real proxy."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("litellm")

import httpx
import litellm
from litellm import CustomLLM, ModelResponse

from refold import MemoryStore, SqliteStore
from refold.integrations.litellm import RefoldLogger
from tests.integrations.contract import MARK, TASK, Act, Brain, Integration, Mode, Talk, log_of
from tests.patience import FOR_EVER
from tests.server.upstream import ScriptedUpstream

READ = {
    "type": "function",
    "function": {
        "name": "read",
        "description": "Read a log.",
        "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
}


class Provider(CustomLLM):
    """Answers as a `Brain` says, and keeps every request."""

    def __init__(self, brain: Brain) -> None:
        super().__init__()
        self.brain = brain
        self.requests: list[list[Any]] = []
        self.tools: list[str] = []

    def act(self, given: dict[str, Any]) -> Act:
        messages = given["messages"]
        self.requests.append(copy.deepcopy(messages))
        offered = given.get("optional_params", {}).get("tools", ())
        self.tools[:] = [tool["function"]["name"] for tool in offered]
        return self.brain.act([str(message.get("content") or "") for message in messages])

    def calls(self, act: Act) -> list[dict[str, Any]]:
        if isinstance(act, str):
            return []
        function = {"name": act.name, "arguments": json.dumps(act.arguments)}
        id_ = f"c{len(self.requests)}"
        return [{"id": id_, "type": "function", "function": function, "index": 0}]

    async def acompletion(self, *args: Any, **given: Any) -> ModelResponse:
        act = self.act(given)
        message = {"role": "assistant", "content": act if isinstance(act, str) else None}
        calls = self.calls(act)
        choice = {"message": {**message, "tool_calls": calls or None}, "finish_reason": "stop"}
        return ModelResponse(choices=[choice])

    async def astreaming(self, *args: Any, **given: Any) -> AsyncIterator[Any]:
        act = self.act(given)
        calls = self.calls(act)
        yield {
            "text": act if isinstance(act, str) else "",
            "tool_use": calls[0] if calls else None,
            "is_finished": True,
            "finish_reason": "tool_calls" if calls else "stop",
            "usage": None,
            "index": 0,
        }


class TestLiteLLM(Integration):
    test_sync: Any = None  # LiteLLM asks no callback before a synchronous completion

    def run(self, brain: Brain, mode: Mode = "async", **choices: Any) -> Talk:
        return super().run(brain, mode, **choices)

    def talk(self, brain: Brain, mode: Mode, **choices: Any) -> Talk:
        refold, provider = RefoldLogger(**choices), Provider(brain)
        history: list[Any] = [{"role": "user", "content": TASK}]
        before = litellm.callbacks, litellm.custom_provider_map
        litellm.callbacks = [refold]
        litellm.custom_provider_map = [{"provider": "scripted", "custom_handler": provider}]
        try:
            asyncio.run(self._loop(refold, history, mode))
        finally:
            litellm.callbacks, litellm.custom_provider_map = before
        texts = [str(message.get("content") or "") for message in history]
        return Talk(provider.requests, texts, provider.tools)

    async def _loop(self, refold: RefoldLogger, history: list[Any], mode: Mode) -> None:
        given = {"model": "scripted/gpt-5", "tools": [READ, refold.tool]}
        while True:
            kept = copy.deepcopy(history)
            if mode == "async":
                answer: Any = await litellm.acompletion(messages=history, **given)
            else:
                stream: Any = await litellm.acompletion(messages=history, stream=True, **given)
                chunks = [chunk async for chunk in stream]
                answer = litellm.stream_chunk_builder(chunks)
            assert history == kept, "the caller's list was touched"
            message = answer.choices[0].message
            history.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return
            for call in message.tool_calls:
                said = self._call(call.function, refold, history)
                history.append({"role": "tool", "tool_call_id": call.id, "content": said})

    def _call(self, function: Any, refold: RefoldLogger, history: list[Any]) -> str:
        if function.name == "read":
            return log_of(json.loads(function.arguments)["n"])
        return refold.retrieve(function.arguments, history)

    test_thinking: Any = None  # the providers' own shapes are tested with their SDKs

    def test_who_completes_synchronously_can_fold(self) -> None:
        refold = RefoldLogger(store=MemoryStore(), token_budget=500)
        function = {"name": "read", "arguments": '{"n": 0}'}
        call = {"id": "c0", "type": "function", "function": function}
        messages: list[Any] = [
            {"role": "user", "content": TASK},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c0", "content": log_of(0)},
        ]
        sent = refold.fold(messages, "gpt-5")
        assert len(str(sent)) < len(str(messages)) / 2


CALLBACK = """
from refold import SqliteStore
from refold.integrations.litellm import RefoldLogger

instance = RefoldLogger(store=SqliteStore("originals.db"), token_budget=1_500)
"""
MODELS = {"chat": ("openai/gpt-5", "/v1"), "claude": ("anthropic/claude-sonnet-4-5", "")}


@contextmanager
def litellm_proxy(folder: Path, upstream: ScriptedUpstream) -> Iterator[str]:
    """Run LiteLLM's own proxy with `RefoldLogger` among its callbacks; yield its address."""
    models = [
        {
            "model_name": name,
            "litellm_params": {"model": model, "api_base": upstream.url + path, "api_key": "k"},
        }
        for name, (model, path) in MODELS.items()
    ]
    settings = {"callbacks": "refold_callback.instance", "telemetry": False}
    config = {"model_list": models, "litellm_settings": settings}
    (folder / "refold_callback.py").write_text(CALLBACK)
    (folder / "config.yaml").write_text(json.dumps(config))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    start = "from litellm.proxy.proxy_cli import run_server; run_server()"
    command = [sys.executable, "-c", start, "--config", "config.yaml"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    settled = {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ | settled, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url, process, folder / "log")
            yield url
        finally:
            process.terminate()
            process.wait(FOR_EVER)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the proxy answers: it takes most of a minute to start."""
    for _ in range(int(FOR_EVER)):
        assert process.poll() is None, log.read_text()[-2_000:]
        with suppress(httpx.HTTPError):
            if httpx.get(f"{url}/health/liveliness", timeout=5).is_success:
                return
        time.sleep(1)
    pytest.fail(log.read_text()[-2_000:])


def chat_history() -> list[Any]:
    function = {"name": "read", "arguments": '{"n": 0}'}
    call = {"id": "c0", "type": "function", "function": function}
    return [
        {"role": "user", "content": TASK},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c0", "content": log_of(0)},
    ]


def claude_history() -> list[Any]:
    call = {"type": "tool_use", "id": "c0", "name": "read", "input": {"n": 0}}
    result = {"type": "tool_result", "tool_use_id": "c0", "content": log_of(0)}
    return [
        {"role": "user", "content": TASK},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]


def test_litellms_own_proxy_sends_folded_messages(tmp_path: Path) -> None:
    with ScriptedUpstream() as upstream, litellm_proxy(tmp_path, upstream) as url:
        asked: dict[str, Any] = {"model": "chat", "messages": chat_history()}
        answer = httpx.post(f"{url}/v1/chat/completions", json=asked, timeout=FOR_EVER)
        assert answer.json()["choices"][0]["message"]["content"] == "done", answer.text
        streamed = {**asked, "stream": True}
        answer = httpx.post(f"{url}/v1/chat/completions", json=streamed, timeout=FOR_EVER)
        assert answer.text.rstrip().endswith("data: [DONE]")
        asked = {"model": "claude", "messages": claude_history(), "max_tokens": 100}
        answer = httpx.post(f"{url}/v1/messages", json=asked, timeout=FOR_EVER)
        assert answer.json()["content"][0]["text"] == "done", answer.text
        requests = [request for request in upstream.requests if request.method == "POST"]
        paths = [request.path.rpartition("/v1/")[2] for request in requests]
        assert paths == ["chat/completions", "chat/completions", "messages"]
        for request in requests:
            sent = json.dumps(request.messages)
            assert len(sent) < len(log_of(0)) / 2
            assert "disk full" in sent
    found = MARK.search(json.dumps(requests[0].messages))
    assert found is not None
    with SqliteStore(tmp_path / "originals.db") as store:
        refold = RefoldLogger(store=store, token_budget=1_500)  # after the proxy has ended
        refold.fold(chat_history(), "gpt-5")
        assert refold.retrieve({"handle": found[1]}, chat_history()).startswith("[original")
        assert "took 250 ms" in refold.retrieve({"query": "took 250 ms"}, chat_history())
