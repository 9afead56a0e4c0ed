"""What each provider accepts: its own request types where they are installed, and its rules.

A check raises `AssertionError`, or whatever the types of the provider raise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import groupby, pairwise
from typing import Any

from pydantic import TypeAdapter

from tests.conversations import Conversation

Wires = Sequence[Mapping[str, Any]]
Check = Callable[[Wires], None]


@cache
def has(name: str) -> bool:
    """Tell whether a module of a vendor is installed."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@cache
def _adapter(module: str, name: str) -> TypeAdapter[Any]:
    """Return what checks lists of a request type; making one takes longer than all its checks."""
    return TypeAdapter(list[getattr(import_module(module), name)])  # type: ignore[misc, arg-type]


@cache
def _converse() -> Any:
    """Return the shape of a request to Bedrock."""
    loader = import_module("botocore.loaders").Loader()
    service = import_module("botocore.model").ServiceModel
    model = service(loader.load_service_model("bedrock-runtime", "service-2"))
    return model.operation_model("Converse").input_shape


def _check_sides(messages: Wires, first: str = "user") -> None:
    """Check that the user begins and that nobody speaks twice in a row."""
    roles = [message["role"] for message in messages]
    assert roles[:1] == [first]
    assert all(one != other for one, other in pairwise(roles)), roles


def _check_pairs(calls: Iterable[tuple[list[Any], list[Any]]]) -> None:
    """Check that each message answers what the one before it called, and nothing else."""
    waiting: list[Any] = []
    for called, answered in calls:
        assert sorted(answered, key=str) == sorted(waiting, key=str)
        waiting = called
    assert not waiting


def _name(body: Mapping[str, Any]) -> tuple[Any, Any]:
    return body.get("id"), body["name"]


def check_gemini(contents: Wires) -> None:
    """Check contents for `generateContent`."""
    _check_sides(contents)
    calls = []
    for content in contents:
        parts = content["parts"]
        assert parts
        called = [part["functionCall"] for part in parts if "functionCall" in part]
        answered = [part["functionResponse"] for part in parts if "functionResponse" in part]
        assert all(isinstance(answer["response"], dict) for answer in answered)
        calls.append((list(map(_name, called)), list(map(_name, answered))))
    _check_pairs(calls)
    if has("google.genai"):
        types = import_module("google.genai.types")
        for content in contents:
            types.Content.model_validate(content)


def check_bedrock(messages: Wires) -> None:
    """Check messages for `Converse`."""
    _check_sides(messages)
    calls = []
    for message in messages:
        content = message["content"]
        assert content
        assert all(block["text"].strip() for block in content if "text" in block)
        results = [block["toolResult"] for block in content if "toolResult" in block]
        data = [b["json"] for result in results for b in result["content"] if "json" in b]
        assert all(isinstance(value, dict) for value in data)
        called = [block["toolUse"]["toolUseId"] for block in content if "toolUse" in block]
        calls.append((called, [result["toolUseId"] for result in results]))
    _check_pairs(calls)
    if has("botocore"):
        validator = import_module("botocore.validate").ParamValidator()
        report = validator.validate({"modelId": "m", "messages": list(messages)}, _converse())
        assert not report.has_errors(), report.generate_report()


def check_responses(items: Wires) -> None:
    """Check items for the `input` of the Responses API."""
    called: set[str] = set()
    answered: set[str] = set()
    for place, item in enumerate(items):
        kind = item.get("type", "message")
        if kind.endswith("_output"):
            assert item["call_id"] in called
            answered.add(item["call_id"])
        elif "call_id" in item:
            called.add(item["call_id"])
        if kind == "reasoning":
            after = items[place + 1 : place + 2]
            assert [i for i in after if i.get("role") == "assistant" or "call" in str(i["type"])]
    assert called == answered
    if has("openai"):
        adapter = _adapter("openai.types.responses", "ResponseInputItemParam")
        adapter.validate_python([_strict(item) for item in items])


def _strict(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Check what the types do not: that no item has a key which the API does not know."""
    assert "metadata" not in item
    return item


def check_openai_chat(messages: Wires) -> None:
    """Check messages for Chat Completions."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
    assert not waiting
    if has("openai"):
        adapter = _adapter("openai.types.chat", "ChatCompletionMessageParam")
        adapter.validate_python(list(messages))


def check_anthropic(messages: Wires) -> None:
    """Check messages for the Messages API; turns of one side in a row count as one there."""
    assert messages[0]["role"] == "user"
    waiting: list[str] = []
    for _, turns in groupby(messages, lambda message: message["role"]):
        blocks = [block for message in turns for block in _blocks(message["content"])]
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        answered = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        assert sorted(answered) == sorted(waiting)
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert not waiting
    if has("anthropic"):
        _adapter("anthropic.types", "MessageParam").validate_python(list(messages))


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def check_bound(given: Wires, sent: Wires) -> None:
    """Check that no thinking of Claude's stands behind the first message that has changed."""
    pairs = zip(given, sent, strict=False)
    changed = next((n for n, (one, other) in enumerate(pairs) if one != other), len(given))
    for message in sent[changed:]:
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            assert block.get("type") not in ("thinking", "redacted_thinking")
            assert "reasoningContent" not in block


def is_valid(check: Check, conversation: Conversation) -> bool:
    """Tell whether a provider would take *conversation*."""
    try:
        check(conversation)
    except (AssertionError, ValueError):  # the rules refuse it, or the types of the provider do
        return False
    return True
