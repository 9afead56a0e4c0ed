"""Messages of other libraries are taken, or refused with advice that leads somewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from refold import CompressionManager, ContextWindowManager, MessageError
from refold.messages.formats import load
from tests.classic import Session, compress
from tests.tools.managing import FACTS


def made_in(module: str, **attributes: Any) -> Any:
    """Return an object of a class of another library, with what theirs have in common."""
    dump = {"model_dump": lambda self: attributes}
    return type("Theirs", (), {**attributes, **dump, "__module__": module})()


OTHER = made_in("openai.types.chat", role="user", content="hi")

DUMPS: list[dict[str, Any]] = [
    {"type": "human", "content": "hi", "additional_kwargs": {}},
    {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "hi"}], "run_id": "r"},
    {"role": "model", "parts": [{"text": "hi"}]},
    {"role": "user", "blocks": [{"block_type": "text", "text": "hi"}]},
    {"role": "user", "content": [{"text": "hi"}]},
]

FOLDERS: list[Callable[[list[Any]], object]] = [
    compress,
    lambda messages: Session().extend(messages),
    lambda messages: ContextWindowManager(context_limit=9_000).fit(messages),
]


@pytest.mark.parametrize("fold", FOLDERS)
@pytest.mark.parametrize("message", DUMPS)
def test_dumps_of_other_libraries_are_read(
    fold: Callable[[list[Any]], object], message: dict[str, Any]
) -> None:
    fold([message])
    assert [part.text for part in load([message])[0].parts] == ["hi"]


@pytest.mark.parametrize("fold", FOLDERS)
def test_what_cannot_be_read_is_refused_with_advice(fold: Callable[[list[Any]], object]) -> None:
    with pytest.raises(MessageError, match=r"messages\[0\].*convert it with its model_dump\(\)"):
        fold([OTHER])


@pytest.mark.parametrize("fold", FOLDERS)
@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        ({"object": "chat.completion", "choices": [{}]}, r"use its choices\[0\]\.message"),
        ({"object": "chat.completion.chunk", "choices": [{}]}, "chunk of a stream"),
        ({"type": "content_block_delta", "index": 0, "delta": {"text": "h"}}, "chunk of a stream"),
        ({"type": "response.output_text.delta", "delta": "h"}, "chunk of a stream"),
        ({"candidates": [{"content": {}}]}, r"use its candidates\[0\]\.content"),
        ({"object": "response", "output": [{"type": "message"}]}, "use its output"),
    ],
)
def test_answers_and_pieces_of_them_are_refused_with_advice(
    fold: Callable[[list[Any]], object], answer: dict[str, Any], advice: str
) -> None:
    with pytest.raises(MessageError, match=rf"messages\[0\].*{advice}"):
        fold([answer])


@pytest.mark.parametrize("key", ["messages", "contents", "input"])
def test_a_request_is_refused_with_advice(key: str) -> None:
    request: Any = {"model": "m", key: [{"role": "user", "content": "hi"}]}
    window = ContextWindowManager(context_limit=9_000)
    for fold in (compress, window.fit, CompressionManager().view):
        with pytest.raises(MessageError, match=f"got dict; this is a request: use its '{key}'"):
            fold(request)


@pytest.mark.parametrize("name", ["should_compress", "compress", "view"])
def test_the_manager_does_not_pass_over_what_it_cannot_read(name: str) -> None:
    with pytest.raises(MessageError, match=r'messages\[0\].*has no "role" \(it has said\)'):
        getattr(CompressionManager(), name)([{"said": "hi"}])


def pydantic_ai_run() -> list[dict[str, Any]]:
    """Dumps of what pydantic-ai keeps of a run."""
    messages: list[dict[str, Any]] = []
    for n in range(4):
        call = {"part_kind": "tool-call", "tool_name": "read", "args": {}, "tool_call_id": f"c{n}"}
        given = {"part_kind": "tool-return", "tool_name": "read", "tool_call_id": f"c{n}"}
        messages.append({"kind": "response", "parts": [call]})
        messages.append({"kind": "request", "parts": [{**given, "content": f"{n} {FACTS * 4}"}]})
    return [*messages, {"kind": "response", "parts": [{"part_kind": "text", "content": "done"}]}]


def test_the_manager_shortens_what_tools_of_pydantic_ai_returned() -> None:
    messages = pydantic_ai_run()
    manager = CompressionManager()
    assert manager.should_compress(messages)
    assert manager.compress(messages).compressed == 4
    view = manager.view(messages)
    assert [message["kind"] for message in view] == [message["kind"] for message in messages]
    assert len(str(view)) < len(str(pydantic_ai_run()))


def langchain_run() -> list[dict[str, Any]]:
    """Dumps of LangChain messages; several calls at once, as agents make them."""
    calls = [{"id": f"c{n}", "name": "read", "args": {"n": n}} for n in range(3)]
    results = [
        {"type": "tool", "tool_call_id": f"c{n}", "content": f"{n} {FACTS * 4}"} for n in range(3)
    ]
    return [
        {"type": "human", "content": "go"},
        {"type": "ai", "content": "", "tool_calls": calls},
        *results,
        {"type": "ai", "content": "done", "tool_calls": []},
    ]


def test_the_manager_sees_that_a_langchain_model_has_answered() -> None:
    messages = langchain_run()
    assert CompressionManager().should_compress(messages)
    assert CompressionManager().compress(messages).compressed == 3
    assert not CompressionManager().should_compress(langchain_run()[:-1])
