"""Tool results are found in every common shape, in dicts and in objects."""

from __future__ import annotations

import copy
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from refold import MessageError
from refold.tools.shapes import (
    TextRef,
    find_texts,
    get,
    read_turns,
    set_field,
    with_value,
)
from tests.conversations import Conversation, anthropic, openai_chat, plain
from tests.tools.managing import find_results

ARGS = '{"path": "a.py"}'
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": ARGS}}

SHAPES: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "body"},
    ],
    "openai parts": [
        {"role": "assistant", "tool_calls": [OPENAI_CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "body"}]},
    ],
    "user with id": [
        {"role": "assistant", "tool_calls": [OPENAI_CALL]},
        {"role": "user", "tool_call_id": "c1", "content": "body"},
    ],
    "camel case": [
        {"role": "assistant", "toolCalls": [{"id": "c1", "name": "read", "args": ARGS}]},
        {"role": "tool", "toolCallId": "c1", "content": "body"},
    ],
    "legacy function": [
        {"role": "assistant", "function_call": {"name": "read", "arguments": ARGS}},
        {"role": "function", "name": "read", "content": "body"},
    ],
    "anthropic": [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": ARGS}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "body"}],
        },
    ],
    "anthropic blocks": [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": ARGS}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "body"}, {"type": "image", "source": {}}],
                }
            ],
        },
    ],
    "responses": [
        {"type": "function_call", "call_id": "c1", "id": "x", "name": "read", "arguments": ARGS},
        {"type": "function_call_output", "call_id": "c1", "output": "body"},
    ],
    "responses parts": [
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": ARGS},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [{"type": "input_text", "text": "body"}],
        },
    ],
    "gemini": [
        {"role": "model", "parts": [{"function_call": {"name": "read", "args": ARGS}}]},
        {
            "role": "user",
            "parts": [{"function_response": {"name": "read", "response": {"result": "body"}}}],
        },
    ],
    "gemini camel": [
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "read", "args": ARGS}}]},
        {
            "role": "function",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "body"}}}
            ],
        },
    ],
    "bedrock": [
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "c1", "name": "read", "input": ARGS}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "body"}]}}],
        },
    ],
    "ai sdk": [
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "c1", "toolName": "read", "input": ARGS}
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "read",
                    "output": {"type": "text", "value": "body"},
                }
            ],
        },
    ],
    "langchain": [
        {"type": "ai", "content": "", "tool_calls": [{"id": "c1", "name": "read", "args": ARGS}]},
        {"type": "tool", "tool_call_id": "c1", "content": "body", "status": "success"},
    ],
}


def as_object(value: Any) -> Any:
    if isinstance(value, dict):
        return SimpleNamespace(**{name: as_object(item) for name, item in value.items()})
    return [as_object(item) for item in value] if isinstance(value, list) else value


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step] if isinstance(step, int) else get(value, step)
    return value


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_recognised(shape: str) -> None:
    messages = SHAPES[shape]
    (found,) = find_results(messages)
    assert (found.text, found.tool, found.arguments) == ("body", "read", ARGS)
    assert (found.index, found.is_error) == (1, False)
    assert found.call_id == {"legacy function": "", "gemini": "read:1"}.get(shape, "c1")
    assert at(messages[1], found.path) == "body"
    assert found.place.startswith("messages[1].")


@pytest.mark.parametrize("shape", SHAPES)
def test_objects_read_like_dicts(shape: str) -> None:
    assert find_texts([as_object(m) for m in SHAPES[shape]]) == find_texts(SHAPES[shape])


@pytest.mark.parametrize("shape", SHAPES)
def test_the_text_can_be_replaced_in_a_copy(shape: str) -> None:
    before = copy.deepcopy(SHAPES[shape])
    (found,) = find_results(SHAPES[shape])
    changed = [SHAPES[shape][0], with_value(SHAPES[shape][1], found.path, "short")]
    assert SHAPES[shape] == before
    assert [found.text for found in find_results(changed)] == ["short"]


def test_each_anthropic_block_is_a_result_of_its_own() -> None:
    results = [{"type": "tool_result", "tool_use_id": f"c{n}", "content": f"t{n}"} for n in (1, 2)]
    found = find_texts([{"role": "user", "content": [*results, {"type": "text", "text": "go on"}]}])
    assert [f.text for f in found] == ["t1", "t2", "go on"]
    assert [f.is_result for f in found] == [True, True, False]
    assert {f.block for f in found if f.is_result} == {
        ("content", 0),
        ("content", 1),
    }


def test_text_beside_calls_is_told_and_calls_are_left_alone() -> None:
    (found,) = find_texts([{"role": "assistant", "content": "I look", "tool_calls": [OPENAI_CALL]}])
    assert found.beside_calls
    assert not found.is_result
    (alone,) = find_texts([{"role": "assistant", "content": "I look"}])
    assert not alone.beside_calls


def test_calls_are_listed() -> None:
    for messages in SHAPES.values():
        calling, answering = read_turns(messages)
        assert [(call.name, call.spelled) for call in calling.calls] == [("read", ARGS)]
        assert not answering.calls


def test_an_id_used_again_means_its_latest_call() -> None:
    again = {"id": "c1", "function": {"name": "write", "arguments": {"a": 1}}}
    messages = [*SHAPES["openai"], {"role": "assistant", "tool_calls": [again]}]
    messages.append({"role": "tool", "tool_call_id": "c1", "content": "done"})
    assert [(f.tool, f.arguments) for f in find_results(messages)] == [
        ("read", ARGS),
        ("write", '{"a":1}'),
    ]


def test_gemini_answers_without_ids_come_in_the_order_of_the_calls() -> None:
    calls = [{"functionCall": {"name": "read", "args": {"n": n}}} for n in (1, 2)]
    answers = [
        {"functionResponse": {"name": "read", "response": {"result": f"r{n}"}}} for n in (1, 2)
    ]
    found = find_results([{"role": "model", "parts": calls}, {"role": "user", "parts": answers}])
    assert [(f.text, f.arguments) for f in found] == [("r1", '{"n":1}'), ("r2", '{"n":2}')]


def test_structured_results_are_read_as_json() -> None:
    response = {"rows": [{"a": 1}], "count": 1}
    part = {"function_response": {"name": "query", "response": response}}
    found = find_results([{"role": "user", "parts": [part]}])
    assert [(f.text, f.path[-1]) for f in found] == [('[{"a":1}]', "rows"), ("1", "count")]


def test_thoughts_media_and_unknown_blocks_have_no_text() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "text": "no"},
        {"type": "image_url", "image_url": {"url": "data:"}},
        {"type": "novelty", "text": "?"},
    ]
    assert find_texts([{"role": "assistant", "content": blocks}]) == []
    assert find_texts([{"role": "model", "parts": [{"text": "hidden", "thought": True}]}]) == []


@dataclass
class Turn:
    role: str
    content: str
    tool_call_id: str | None = None
    compressed_content: str | None = None


@dataclass(frozen=True, slots=True)
class FrozenTurn:
    role: str
    content: str


class Model(BaseModel):
    role: str
    content: str


class OpenModel(Model):
    model_config = ConfigDict(extra="allow")


class FrozenModel(Model):
    model_config = ConfigDict(frozen=True)


@pytest.mark.parametrize("make", [Turn, FrozenTurn, Model, OpenModel, FrozenModel])
def test_objects_of_all_kinds_are_read_and_copied(make: Any) -> None:
    message = make(role="tool", content="body")
    (found,) = find_results([message])
    assert found.text == "body"
    changed = with_value(message, found.path, "short")
    assert (type(changed), changed.content, message.content) == (make, "short", "body")


@pytest.mark.parametrize("make", [Turn, OpenModel, SimpleNamespace, dict])
def test_a_field_can_be_set(make: Any) -> None:
    message = make(role="tool", content="body")
    set_field(message, "compressed_content", "short")
    assert get(message, "compressed_content") == "short"


@pytest.mark.parametrize(
    "message",
    [
        FrozenTurn("tool", "body"),
        Model(role="tool", content="body"),
        FrozenModel(role="tool", content="body"),
        MappingProxyType({"role": "tool"}),
        "text",
    ],
)
def test_what_cannot_be_set_is_said(message: object) -> None:
    with pytest.raises(MessageError, match="does not let 'compressed_content' be set"):
        set_field(message, "compressed_content", "short")


@pytest.mark.parametrize("bad", ["text", None, 3, ["x"]])
def test_a_message_must_have_fields(bad: Any) -> None:
    with pytest.raises(MessageError, match=r"messages\[1\]"):
        find_texts([{"role": "user", "content": "hi"}, bad])


@pytest.mark.parametrize("nobodys", [{}, {"content": "x"}, {"role": None, "content": "x"}])
def test_what_does_not_tell_who_speaks_is_refused(nobodys: dict[str, Any]) -> None:
    with pytest.raises(MessageError, match=r'messages\[1\]: has no "role" \('):
        find_texts([{"role": "user", "content": "hi"}, nobodys])


WORDS = st.sampled_from(
    "role content parts type text tool_calls toolCalls id name output response function input "
    "tool_result tool_use function_response toolResult tool_call_id value status error".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


ROLES = st.sampled_from("user assistant tool model ai".split())


@given(st.lists(st.tuples(ROLES, st.dictionaries(WORDS, JSON | WORDS, max_size=5)), max_size=4))
def test_what_is_strange_is_read_right_or_refused(
    strange: list[tuple[str, dict[str, Any]]],
) -> None:
    messages = [{**message, "role": role} for role, message in strange]
    before = copy.deepcopy(messages)
    texts: list[TextRef] = []
    with suppress(MessageError):
        texts = find_texts(messages)
    for found in texts:
        held = at(messages[found.index], found.path)
        assert held == found.text or (found.is_result and not isinstance(held, str))
        assert at(with_value(messages[found.index], found.path, "new"), found.path) == "new"
    assert messages == before


@given(st.one_of(plain(), openai_chat(), anthropic()))
def test_generated_conversations_are_read(messages: Conversation) -> None:
    for found in find_texts(messages):
        assert at(messages[found.index], found.path) == found.text
