"""The SDKs of OpenAI and Anthropic through the proxy: tool loops, streams, errors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest

from refold.server.proxy.proxy import Proxy
from tests.patience import until
from tests.server.proxy.conftest import Running, Shared
from tests.server.proxy.running import last_session, log_of
from tests.server.upstream import Call, Cut, Fail, Raw, Say, ScriptedUpstream, Zipped

TURNS = 10
TOOL: dict[str, Any] = {
    "name": "read_log",
    "description": "Reads a log.",
    "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
}
FUNCTION: dict[str, Any] = {
    "name": "read_log",
    "description": "Reads a log.",
    "parameters": TOOL["input_schema"],
}


@pytest.fixture
def lent(shared: Shared) -> Running:
    return shared()


@pytest.fixture
def upstream(lent: Running) -> ScriptedUpstream:
    return lent.upstream


@pytest.fixture
def proxy(lent: Running) -> Proxy:
    return lent.proxy


@pytest.fixture
def claude(proxy: Proxy, key: str) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=proxy.url, api_key=key, max_retries=0) as client:
        yield client


@pytest.fixture
def gpt(proxy: Proxy, key: str) -> Iterator[openai.OpenAI]:
    url = f"{proxy.url}/v1"
    with openai.OpenAI(base_url=url, api_key=key, max_retries=0) as client:
        yield client


def test_claude_on_vertex(upstream: ScriptedUpstream, proxy: Proxy, key: str) -> None:
    """The paths are others, and the model is in them; the answers are the same."""
    client = anthropic.AnthropicVertex(
        base_url=f"{proxy.url}/v1",
        region="us-east5",
        project_id="p",
        access_token=key,
        max_retries=0,
    )
    use: Any = {"type": "tool_use", "id": "t1", "name": "read_log", "input": {}}
    result: Any = {"type": "tool_result", "tool_use_id": "t1", "content": log_of(60, 1)}
    messages: Any = [
        {"role": "user", "content": "What is in it?"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    upstream.script.extend([Say("It is fine."), Say("It is fine.")])
    asked: Any = {"model": "claude-sonnet-4-5@20250929", "max_tokens": 9, "tools": [TOOL]}
    with client:
        whole = client.messages.create(messages=messages, **asked)
        with client.messages.stream(messages=messages, **asked) as stream:
            streamed = stream.get_final_text()
    assert whole.content[0].text == streamed == "It is fine."
    for request in upstream.requests:
        assert "/publishers/anthropic/models/claude-sonnet-4-5@20250929:" in request.path
        assert len(str(request.messages)) < 0.8 * len(str(messages))
    totals = last_session(proxy).totals
    assert totals.tokens_before > totals.tokens_after > 0


def script_loop(upstream: ScriptedUpstream) -> None:
    upstream.script.extend(Call("read_log", {"n": n}, text=f"Step {n}.") for n in range(TURNS))
    upstream.script.append(Say("The answer is 42."))


@pytest.fixture
def check_loop(
    upstream: ScriptedUpstream, proxy: Proxy, faults: Callable[[], Counter[str]]
) -> Callable[[str, object], None]:
    def check(last: str, whole: object) -> None:
        assert last.strip() == "The answer is 42."
        upstream.check_prefixes()
        assert len(upstream.requests) == TURNS + 1
        totals = last_session(proxy).totals
        assert totals.tokens_after < totals.tokens_before
        assert totals.money_after < totals.money_before
        assert len(upstream.requests[-1].raw) < len(json.dumps(whole))
        assert not faults()

    return check


@pytest.mark.parametrize("is_streamed", [False, True])
def test_anthropic_tool_loop(
    upstream: ScriptedUpstream,
    proxy: Proxy,
    claude: anthropic.Anthropic,
    check_loop: Callable[[str, object], None],
    is_streamed: bool,
) -> None:
    script_loop(upstream)
    messages: list[Any] = [{"role": "user", "content": "What is in the logs?"}]
    given: dict[str, Any] = {"model": "claude-sonnet-5", "max_tokens": 99, "tools": [TOOL]}
    while True:
        if is_streamed:
            with claude.messages.stream(**given, messages=messages) as stream:
                answer = stream.get_final_message()
        else:
            answer = claude.messages.create(**given, messages=messages)
        said = [block.model_dump(exclude_none=True) for block in answer.content]
        messages.append({"role": "assistant", "content": said})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            break
        result: list[dict[str, Any]] = [
            {"type": "tool_result", "tool_use_id": call.id, "content": log_of(60, len(messages))}
            for call in calls
        ]
        result[-1]["cache_control"] = {"type": "ephemeral"}
        messages.append({"role": "user", "content": result})
    check_loop(said[-1]["text"], messages)
    sent = upstream.requests[-1].body["messages"]
    assert "cache_control" in sent[-1]["content"][-1]
    assert "cache_control" in sent[4]["content"][-1]
    assert last_session(proxy).totals.cache_read > 0


@pytest.mark.parametrize("is_streamed", [False, True])
def test_chat_tool_loop(
    upstream: ScriptedUpstream,
    proxy: Proxy,
    gpt: openai.OpenAI,
    check_loop: Callable[[str, object], None],
    is_streamed: bool,
) -> None:
    script_loop(upstream)
    messages: list[Any] = [{"role": "user", "content": "What is in the logs?"}]
    tools: list[Any] = [{"type": "function", "function": FUNCTION}]
    while True:
        if is_streamed:
            with gpt.chat.completions.stream(
                model="gpt-5", messages=messages, tools=tools
            ) as stream:
                answer: Any = stream.get_final_completion().choices[0].message
        else:
            completion = gpt.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
            answer = completion.choices[0].message
        said = {"role": "assistant", "content": answer.content}
        calls = answer.tool_calls or []
        if calls:
            said["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": call.function.name,
                        "arguments": call.function.arguments,
                    },
                }
                for call in calls
            ]
        messages.append(said)
        if not calls:
            break
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": log_of(60, len(messages))}
            for call in calls
        ]
    check_loop(answer.content, messages)


@pytest.mark.parametrize("is_streamed", [False, True])
def test_responses_tool_loop(
    upstream: ScriptedUpstream,
    proxy: Proxy,
    gpt: openai.OpenAI,
    check_loop: Callable[[str, object], None],
    is_streamed: bool,
) -> None:
    script_loop(upstream)
    items: list[Any] = [{"role": "user", "content": "What is in the logs?"}]
    given: dict[str, Any] = {"model": "gpt-5", "tools": [{"type": "function", **FUNCTION}]}
    while True:
        if is_streamed:
            with gpt.responses.stream(**given, input=items) as stream:
                answer: Any = stream.get_final_response()
        else:
            answer = gpt.responses.create(**given, input=items)
        items += [item.model_dump(exclude_none=True) for item in answer.output]
        calls = [item for item in answer.output if item.type == "function_call"]
        for item in items:
            item.pop("parsed_arguments", None)
        if not calls:
            break
        items += [
            {
                "type": "function_call_output",
                "call_id": call.call_id,
                "output": log_of(60, len(items)),
            }
            for call in calls
        ]
    check_loop(answer.output_text, items)


def test_errors_reach_the_client_unchanged(
    upstream: ScriptedUpstream, claude: anthropic.Anthropic, gpt: openai.OpenAI
) -> None:
    upstream.script.extend([Fail(429, "slow down"), Fail(500, "broken"), Fail(529, "busy")])
    ask: dict[str, Any] = {
        "model": "claude-sonnet-5",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
    }
    with pytest.raises(anthropic.RateLimitError, match="slow down") as limited:
        claude.messages.create(**ask)
    assert limited.value.response.headers["retry-after-ms"] == "1"
    with pytest.raises(openai.InternalServerError, match="broken"):
        gpt.chat.completions.create(model="gpt-5", messages=ask["messages"])
    with pytest.raises(anthropic.APIStatusError, match="busy"):
        claude.messages.create(**ask)
    assert len(upstream.requests) == 3


def test_a_stream_that_is_cut_off_is_cut_off_for_the_client(
    upstream: ScriptedUpstream, claude: anthropic.Anthropic, faults: Callable[[], Counter[str]]
) -> None:
    upstream.script.append(Cut("one two three four", events=4))
    seen: list[str] = []
    ask: list[Any] = [{"role": "user", "content": "hi"}]

    def read() -> None:
        with claude.messages.stream(model="claude-sonnet-5", max_tokens=9, messages=ask) as stream:
            seen.extend(stream.text_stream)

    with pytest.raises(Exception, match=r"(?i)connection|closed|incomplete|peer"):
        read()
    assert seen == ["one "]
    assert until(lambda: faults() == {"stream cut off": 1})


@pytest.mark.parametrize("body", [b"data: {oops\n\ndata: \xff\n\n", b"no events at all", b""])
def test_a_malformed_stream_passes_byte_for_byte(
    upstream: ScriptedUpstream, proxy: Proxy, body: bytes
) -> None:
    import httpx2

    upstream.script.append(Raw(body))
    ask = {"model": "gpt-5", "stream": True, "messages": [{"role": "user", "content": "hi"}]}
    answer = httpx2.post(f"{proxy.url}/v1/chat/completions", json=ask)
    assert answer.content == body


@pytest.mark.parametrize("is_streamed", [False, True])
def test_packed_answers_are_passed_on_and_counted(
    upstream: ScriptedUpstream, proxy: Proxy, gpt: openai.OpenAI, is_streamed: bool
) -> None:
    upstream.script.append(Zipped("packed words"))
    ask: list[Any] = [{"role": "user", "content": "hi"}]
    if is_streamed:
        stream = gpt.chat.completions.create(model="gpt-5", messages=ask, stream=True)
        text = "".join(c.choices[0].delta.content or "" for c in stream if c.choices)
    else:
        answer = gpt.chat.completions.create(model="gpt-5", messages=ask)
        text = answer.choices[0].message.content or ""
    assert text.strip() == "packed words"
    assert last_session(proxy).totals.prompt_tokens > 0


def test_what_has_no_messages_passes(
    upstream: ScriptedUpstream, gpt: openai.OpenAI, key: str
) -> None:
    models = gpt.models.with_raw_response.list()
    assert models.headers["x-upstream"] == "yes"
    assert upstream.requests[-1].path == "/v1/models"
    assert upstream.requests[-1].headers["authorization"] == f"Bearer {key}"


def test_tokens_are_counted_of_what_would_be_sent(
    upstream: ScriptedUpstream, claude: anthropic.Anthropic
) -> None:
    messages: list[Any] = [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "x", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "a", "content": log_of(80)}],
        },
    ]
    counted = claude.messages.count_tokens(model="claude-sonnet-5", messages=messages)
    assert counted.input_tokens < len(json.dumps(messages)) // 5
