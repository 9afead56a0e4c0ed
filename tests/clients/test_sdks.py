"""SDKs of Google, LangChain and LiteLLM as clients of the proxy; `make test-sdks` has them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refold.server.proxy.proxy import Proxy
from tests.server.proxy.running import log_of, proxy_for
from tests.server.upstream import Call, Say, ScriptedUpstream

TURNS = 5


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    calls = [Call("read_log", {"n": n}, text=f"Step {n}.") for n in range(TURNS)]
    with ScriptedUpstream(*calls, Say("The answer is 42.")) as upstream:
        yield upstream


@pytest.fixture
def proxy(upstream: ScriptedUpstream, tmp_path: Path) -> Iterator[Proxy]:
    with proxy_for(upstream, tmp_path) as proxy:
        yield proxy


def check(upstream: ScriptedUpstream, proxy: Proxy, last: str) -> None:
    assert last.strip() == "The answer is 42."
    assert len(upstream.requests) == TURNS + 1
    upstream.check_prefixes()
    totals = proxy.stats.totals
    assert totals.tokens_after < totals.tokens_before
    assert totals.errors == 0


@pytest.mark.parametrize("is_streamed", [False, True])
def test_google_genai(upstream: ScriptedUpstream, proxy: Proxy, is_streamed: bool) -> None:
    genai: Any = pytest.importorskip("google.genai", reason="needs google-genai")
    types = genai.types
    client = genai.Client(
        api_key="key", http_options=types.HttpOptions(base_url=proxy.url, api_version="v1beta")
    )
    function = types.FunctionDeclaration(name="read_log", description="Reads a log.")
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[function])])
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text="What is there?")])]
    given = {"model": "gemini-2.5-pro", "config": config}
    while True:
        if is_streamed:
            chunks = list(client.models.generate_content_stream(**given, contents=contents))
            parts = [p for c in chunks for p in (c.candidates[0].content.parts or [])]
        else:
            answer = client.models.generate_content(**given, contents=contents)
            parts = answer.candidates[0].content.parts
        contents.append(types.Content(role="model", parts=parts))
        calls = [part.function_call for part in parts if part.function_call]
        if not calls:
            break
        responses = [
            types.Part.from_function_response(
                name=call.name, response={"result": log_of(60, len(contents))}
            )
            for call in calls
        ]
        contents.append(types.Content(role="user", parts=responses))
    client.close()
    check(upstream, proxy, parts[-1].text)


@pytest.mark.parametrize("kind", ["openai", "responses", "anthropic"])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_langchain(upstream: ScriptedUpstream, proxy: Proxy, kind: str, is_streamed: bool) -> None:
    messages_: Any = pytest.importorskip("langchain_core.messages", reason="needs langchain")
    model: Any
    if kind == "anthropic":
        module: Any = pytest.importorskip("langchain_anthropic", reason="needs langchain-anthropic")
        model = module.ChatAnthropic(
            model="claude-sonnet-5", base_url=proxy.url, api_key="k", max_retries=0
        )
    else:
        module = pytest.importorskip("langchain_openai", reason="needs langchain-openai")
        model = module.ChatOpenAI(
            model="gpt-5",
            base_url=f"{proxy.url}/v1",
            api_key="k",
            max_retries=0,
            use_responses_api=kind == "responses",
        )
    schema = {"name": "read_log", "description": "Reads.", "parameters": {"type": "object"}}
    bound = model.bind_tools([{"type": "function", "function": schema}])
    history: list[Any] = [messages_.HumanMessage("What is there?")]
    while True:
        if is_streamed:
            answer = None
            for chunk in bound.stream(history):
                answer = chunk if answer is None else answer + chunk
        else:
            answer = bound.invoke(history)
        assert answer is not None
        history.append(answer)
        if not answer.tool_calls:
            break
        history += [
            messages_.ToolMessage(log_of(60, len(history)), tool_call_id=call["id"])
            for call in answer.tool_calls
        ]
    check(upstream, proxy, str(answer.text))


@pytest.mark.parametrize("is_streamed", [False, True])
def test_litellm(upstream: ScriptedUpstream, proxy: Proxy, is_streamed: bool) -> None:
    litellm: Any = pytest.importorskip("litellm", reason="needs litellm")
    schema = {"name": "read_log", "description": "Reads.", "parameters": {"type": "object"}}
    given: dict[str, Any] = {
        "model": "openai/gpt-5",
        "api_base": f"{proxy.url}/v1",
        "api_key": "k",
        "tools": [{"type": "function", "function": schema}],
        "num_retries": 0,
        "stream": is_streamed,
    }
    messages: list[Any] = [{"role": "user", "content": "What is there?"}]
    while True:
        answer = litellm.completion(**given, messages=messages)
        if is_streamed:
            answer = litellm.stream_chunk_builder(list(answer))
        said = answer.choices[0].message.model_dump(exclude_none=True)
        messages.append(said)
        if not said.get("tool_calls"):
            break
        messages += [
            {"role": "tool", "tool_call_id": call["id"], "content": log_of(60, len(messages))}
            for call in said["tool_calls"]
        ]
    check(upstream, proxy, said["content"])


def test_litellms_guardrail(upstream: ScriptedUpstream, proxy: Proxy) -> None:
    """The guardrail as LiteLLM's proxy runs it, with the proxy as its service."""
    module: Any = pytest.importorskip(
        "litellm.proxy.guardrails.guardrail_hooks.headroom.headroom", reason="needs litellm[proxy]"
    )
    guardrail = module.HeadroomGuardrail(
        guardrail_name="refold", api_base=proxy.url, event_hook="pre_call", default_on=True
    )
    rows = [
        {"role": "user", "content": "What is there?"},
        {"role": "tool", "tool_call_id": "a", "content": log_of(80)},
    ]
    folded = asyncio.run(guardrail._call_compress(rows, "gpt-5"))
    (name,) = folded.ccr_hashes
    assert len(str(folded.messages)) < len(str(rows))
    assert asyncio.run(guardrail._call_retrieve(name)) == log_of(80)
