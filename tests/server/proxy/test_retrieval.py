"""Originals that a model asks for: the proxy answers, and the client sees one answer."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from refold.server.proxy.proxy import Proxy
from tests.patience import until
from tests.server.proxy.conftest import Running, Shared
from tests.server.proxy.running import last_session, log_of, proxy_for
from tests.server.upstream import Call, Check, Fail, Request, Say, ScriptedUpstream, Step, number_of

TOOL: dict[str, Any] = {"name": "read_log", "description": "Reads.", "input_schema": {}}
RETRIEVE = "retrieve_original"


BUDGET = 8_000
LINES = 600
"""So many lines of a log do not fit the budget; few more fit what is left after the fold."""


@pytest.fixture
def lent(shared: Shared) -> Running:
    return shared(token_budget=BUDGET)


@pytest.fixture
def upstream(lent: Running) -> ScriptedUpstream:
    return lent.upstream


@pytest.fixture
def proxy(lent: Running) -> Proxy:
    return lent.proxy


def ask_for_original(text: str = "", thinking: str = "", also: tuple[Call, ...] = ()) -> Check:
    """Let the model fetch the original of the first handle that it sees."""

    def decide(request: Request) -> Step:
        found = re.search(r"(?:shown|part) #([0-9a-z]{5,})\]", json.dumps(request.messages))
        assert found is not None, "nothing was shortened"
        return Call(RETRIEVE, {"handle": found[1]}, text=text, thinking=thinking, also=also)

    return Check(decide)


class AnthropicAgent:
    """A client that keeps its conversation; it knows nothing of refold."""

    def __init__(self, url: str, key: str, *, is_streamed: bool) -> None:
        self.client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)
        self.is_streamed = is_streamed
        self.more: dict[str, Any] = {}
        self.messages: list[Any] = [{"role": "user", "content": "What is in the log?"}]

    def step(self) -> anthropic.types.Message:
        given: dict[str, Any] = {
            "model": "claude-sonnet-5",
            "max_tokens": 99,
            "tools": [TOOL],
            "messages": self.messages,
            **self.more,
        }
        if self.is_streamed:
            with self.client.messages.stream(**given) as stream:
                answer: anthropic.types.Message = stream.get_final_message()
        else:
            answer = self.client.messages.create(**given)
        said = [block.model_dump(exclude_none=True) for block in answer.content]
        self.messages.append({"role": "assistant", "content": said})
        results = [
            {
                "type": "tool_result",
                "tool_use_id": b.id,
                "content": log_of(LINES if len(self.messages) < 3 else 40, len(self.messages)),
            }
            for b in answer.content
            if b.type == "tool_use"
        ]
        if results:
            self.messages.append({"role": "user", "content": results})
        return answer

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def close(self) -> None:
        self.client.close()


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def agent(proxy: Proxy, key: str, request: pytest.FixtureRequest) -> Iterator[AnthropicAgent]:
    agent = AnthropicAgent(proxy.url, key, is_streamed=request.param)
    yield agent
    agent.close()


def results_of(request: Request) -> list[str]:
    """Return what the retrieval tool has returned so far."""
    found: list[str] = []
    own: set[str] = set()
    for message in request.messages:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == "tool_use" and block["name"] == RETRIEVE:
                own.add(block["id"])
            if block.get("type") == "tool_result" and block["tool_use_id"] in own:
                found.append(block["content"])
    return found


def test_the_model_gets_the_original_and_the_client_one_answer(
    upstream: ScriptedUpstream, proxy: Proxy, agent: AnthropicAgent
) -> None:
    upstream.script.append(Call("read_log", {}, text="Reading."))
    upstream.script.append(ask_for_original("Let me see.", thinking="What is there?"))
    upstream.script.extend([Say("It is the log."), Say("Yes."), Say("Bye.")])
    agent.step()
    answer = agent.step()
    texts = [block.text for block in answer.content if block.type == "text"]
    assert [text.strip() for text in texts] == ["Let me see.", "It is the log."]
    assert not [block for block in answer.content if block.type == "tool_use"]
    (original,) = results_of(upstream.requests[2])
    assert "\n".join(log_of(LINES, 2).splitlines()[:5]) in original
    agent.say("Sure?")
    agent.step()
    agent.say("Thanks.")
    agent.step()
    upstream.check_prefixes()
    assert len(results_of(upstream.requests[-1])) == 1, "what was fetched stays in view"
    roles = [message["role"] for message in upstream.requests[-1].messages]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]
    assert until(lambda: last_session(proxy).totals.retrievals == 1)


def test_a_question_about_what_was_left_out_is_answered(
    upstream: ScriptedUpstream, proxy: Proxy, key: str
) -> None:
    line = log_of(LINES, 2).splitlines()[100]
    ask = Check(lambda _: Call(RETRIEVE, {"query": line.split("request ")[1]}, text="Hm."))
    upstream.script.extend([Call("read_log", {}), ask, Say("It is the log.")])
    agent = AnthropicAgent(proxy.url, key, is_streamed=False)
    agent.step()
    agent.step()
    agent.close()
    assert line not in json.dumps(upstream.requests[1].messages)
    (answer,) = results_of(upstream.requests[2])
    assert answer.startswith("[message 3, result of read_log {}]\n")
    assert line in answer


def test_what_was_fetched_is_known_after_a_restart(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    upstream.script.extend([Call("read_log", {}), ask_for_original("Hm."), Say("It is the log.")])
    with proxy_for(upstream, tmp_path, token_budget=BUDGET) as first:
        agent = AnthropicAgent(first.url, "sk-ant-x", is_streamed=True)
        agent.step()
        agent.step()
        agent.close()
    with proxy_for(upstream, tmp_path, token_budget=BUDGET) as second:
        later = AnthropicAgent(second.url, "sk-ant-x", is_streamed=False)
        later.messages = agent.messages
        later.say("Sure?")
        later.step()
        later.close()
    upstream.check_prefixes()
    assert len(results_of(upstream.requests[-1])) == 1


def test_several_originals_in_one_answer(
    upstream: ScriptedUpstream, proxy: Proxy, agent: AnthropicAgent
) -> None:
    upstream.script.extend([Call("read_log", {"n": 1}), Call("read_log", {"n": 2})])
    again = Check(lambda _: Call(RETRIEVE, {"handle": "nothing"}, text="And this."))
    upstream.script.extend([ask_for_original("First."), again, Call("read_log", {"n": 3})])
    upstream.script.append(Say("Done."))
    agent.step()
    agent.step()
    answer = agent.step()
    kinds = [block.type for block in answer.content]
    assert kinds == ["text", "text", "tool_use"]
    assert agent.step().stop_reason == "end_turn"
    upstream.check_prefixes()
    found = results_of(upstream.requests[-1])
    assert len(found) == 2
    assert "no original" in found[1]


def test_calls_of_the_client_before_ours_are_the_clients_turn(
    upstream: ScriptedUpstream, agent: AnthropicAgent
) -> None:
    own = Call(RETRIEVE, {"handle": "abcde"})
    both = Call("read_log", {"n": 1}, also=(own, Call("read_log", {"n": 2})))
    upstream.script.extend([Call("read_log", {"n": 0}), both])
    agent.step()
    answer = agent.step()
    called = [block.input for block in answer.content if block.type == "tool_use"]
    assert called == [{"n": 1}, {"n": 2}]
    assert answer.stop_reason == "tool_use"
    assert len(upstream.requests) == 2
    agent.step()
    upstream.check_prefixes()


def test_a_provider_that_fails_in_between_ends_the_answer(
    upstream: ScriptedUpstream, agent: AnthropicAgent, faults: Callable[[], Counter[str]]
) -> None:
    upstream.script.extend([Call("read_log", {}), ask_for_original("One moment."), Fail(500)])
    agent.step()
    answer = agent.step()
    assert [b.text.strip() for b in answer.content if b.type == "text"] == ["One moment."]
    assert until(lambda: faults() == {"retrieval cut short": 1})


@pytest.mark.parametrize("is_streamed", [False, True])
def test_chat_completions(
    upstream: ScriptedUpstream, proxy: Proxy, key: str, is_streamed: bool
) -> None:
    upstream.script.append(ask_for_original("Let me see. "))
    upstream.script.extend([Say("It is the log."), Say("Yes.")])
    messages: list[Any] = [
        {"role": "user", "content": "What is in the log?"},
    ]
    tools: list[Any] = [{"type": "function", "function": {"name": "read_log", "parameters": {}}}]
    given: dict[str, Any] = {"model": "gpt-5", "tools": tools}
    with openai.OpenAI(base_url=f"{proxy.url}/v1", api_key=key, max_retries=0) as client:
        upstream.script.appendleft(Call("read_log", {}))
        first = client.chat.completions.create(**given, messages=messages).choices[0].message
        assert first.tool_calls is not None
        messages.append(first.model_dump(exclude_none=True))
        result = {"tool_call_id": first.tool_calls[0].id, "content": log_of(LINES)}
        messages.append({"role": "tool", **result})
        if is_streamed:
            with client.chat.completions.stream(**given, messages=messages) as stream:
                answer: Any = stream.get_final_completion().choices[0]
        else:
            answer = client.chat.completions.create(**given, messages=messages).choices[0]
        said = answer.message.content.split()
        assert said == "Let me see. It is the log.".split()
        assert not answer.message.tool_calls
        messages.append({"role": "assistant", "content": answer.message.content})
        messages.append({"role": "user", "content": "Sure?"})
        client.chat.completions.create(**given, messages=messages)
    upstream.check_prefixes()
    tool_rows = [m for m in upstream.requests[-1].messages if m["role"] == "tool"]
    assert log_of(LINES).splitlines()[7] in tool_rows[1]["content"]


@pytest.mark.parametrize("is_streamed", [False, True])
def test_responses(upstream: ScriptedUpstream, proxy: Proxy, key: str, is_streamed: bool) -> None:
    upstream.script.extend([Call("read_log", {}), ask_for_original("Let me see.")])
    upstream.script.extend([Say("It is the log."), Say("Yes.")])
    items: list[Any] = [{"role": "user", "content": "What is in the log?"}]
    tools: list[Any] = [{"type": "function", "name": "read_log", "parameters": {}}]
    given: dict[str, Any] = {"model": "gpt-5", "tools": tools}
    with openai.OpenAI(base_url=f"{proxy.url}/v1", api_key=key, max_retries=0) as client:
        first: Any = client.responses.create(**given, input=items)
        items += [item.model_dump(exclude_none=True) for item in first.output]
        output = {"call_id": first.output[0].call_id, "output": log_of(LINES)}
        items.append({"type": "function_call_output", **output})
        if is_streamed:
            with client.responses.stream(**given, input=items) as stream:
                answer: Any = stream.get_final_response()
        else:
            answer = client.responses.create(**given, input=items)
        assert answer.output_text == "Let me see.It is the log."
        items += [item.model_dump(exclude_none=True) for item in answer.output]
        items.append({"role": "user", "content": "Sure?"})
        client.responses.create(**given, input=items)
    for item in items:
        assert item.get("name") != RETRIEVE
    upstream.check_prefixes()
    outputs = [item["output"] for item in upstream.requests[-1].messages if "output" in item]
    assert log_of(LINES).splitlines()[7] in outputs[1]


def test_a_response_that_is_named_is_the_one_with_the_originals(
    upstream: ScriptedUpstream, proxy: Proxy, key: str
) -> None:
    upstream.script.extend([Call("read_log", {}), ask_for_original(), Say("It is the log.")])
    given: dict[str, Any] = {
        "model": "gpt-5",
        "tools": [{"type": "function", "name": "read_log", "parameters": {}}],
    }
    with openai.OpenAI(base_url=f"{proxy.url}/v1", api_key=key, max_retries=0) as client:
        asked: Any = [{"role": "user", "content": "What is in the log?"}]
        first: Any = client.responses.create(**given, input=asked)
        output = {"call_id": first.output[0].call_id, "output": log_of(LINES)}
        items: list[Any] = [{"type": "function_call_output", **output}]
        given["previous_response_id"] = first.id
        with client.responses.stream(**given, input=items) as stream:
            answer = stream.get_final_response()
        given["previous_response_id"] = answer.id
        client.responses.create(**given, input=[{"role": "user", "content": "Sure?"}])
    last = upstream.requests[-1].body["previous_response_id"]
    assert last != answer.id
    assert last == f"resp_{number_of(upstream.requests[-2].body)}"


def tools_of(upstream: ScriptedUpstream) -> list[list[str]]:
    return [[tool["name"] for tool in request.body["tools"]] for request in upstream.requests]


def test_the_tool_is_offered_only_inline(
    upstream: ScriptedUpstream, tmp_path: Path, key: str
) -> None:
    upstream.script.append(Call("read_log", {}))
    with proxy_for(upstream, tmp_path, token_budget=BUDGET, retrieve="off") as proxy:
        agent = AnthropicAgent(proxy.url, key, is_streamed=False)
        agent.step()
        agent.step()
        agent.close()
    assert tools_of(upstream) == [["read_log"]] * 2


def test_the_tool_is_offered_once_something_is_left_out(
    upstream: ScriptedUpstream, proxy: Proxy, key: str
) -> None:
    upstream.script.extend([Call("read_log", {}), Call("read_log", {"n": 2}), Say("done")])
    agent = AnthropicAgent(proxy.url, key, is_streamed=False)
    for _ in range(3):
        agent.step()
    agent.close()
    assert tools_of(upstream) == [["read_log"], ["read_log", RETRIEVE], ["read_log", RETRIEVE]]


@pytest.mark.parametrize("has_begun", [False, True])
def test_where_thinking_is_bound_the_tool_is_there_from_the_start_or_never(
    upstream: ScriptedUpstream, proxy: Proxy, key: str, has_begun: bool
) -> None:
    upstream.script.extend([Call("read_log", {}), Say("done")])
    agent = AnthropicAgent(proxy.url, key, is_streamed=False)
    agent.more = {"model": "claude-opus-5-5", "thinking": {"type": "adaptive"}}
    if has_begun:
        agent.messages += [
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "Go."},
        ]
    agent.step()
    agent.step()
    agent.close()
    assert tools_of(upstream) == [["read_log"] if has_begun else ["read_log", RETRIEVE]] * 2
