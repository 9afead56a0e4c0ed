"""Messages of other libraries are taken, or refused with advice that leads somewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from refold import CompressionManager, ContextWindowManager, MessageError
from tests.agent.managing import FACTS
from tests.classic import Session, compress


def made_in(module: str, **attributes: Any) -> Any:
    """Return an object of a class of another library, with what theirs have in common."""
    dump = {"model_dump": lambda self: attributes}
    return type("Theirs", (), {**attributes, **dump, "__module__": module})()


LANGCHAIN = made_in("langchain_core.messages.human", type="human", content="hi")
LANGCHAIN_DUMP = {"type": "human", "content": "hi", "additional_kwargs": {}}
PYDANTIC_AI = made_in("pydantic_ai.messages", kind="request", parts=[])
PYDANTIC_AI_DUMP: dict[str, Any] = {"kind": "request", "parts": [], "run_id": "r"}
GEMINI = made_in("google.genai.types", role="user", parts=[])
GEMINI_DUMP = {"role": "model", "parts": [{"text": "hi"}]}
OTHER = made_in("openai.types.chat", role="user", content="hi")

ADVICE = [
    (LANGCHAIN, "langchain_core.messages.convert_to_openai_messages"),
    (LANGCHAIN_DUMP, "langchain_core.messages.convert_to_openai_messages"),
    (PYDANTIC_AI, 'with "role" and "content"'),
    (PYDANTIC_AI_DUMP, 'with "role" and "content"'),
    (GEMINI, 'the role "model" as "assistant"'),
    (GEMINI_DUMP, 'the role "model" as "assistant"'),
]

FOLDERS: list[Callable[[list[Any]], object]] = [
    compress,
    lambda messages: Session().extend(messages),
    lambda messages: ContextWindowManager(context_limit=9_000).fit(messages),
]


@pytest.mark.parametrize("fold", FOLDERS)
@pytest.mark.parametrize(("message", "advice"), ADVICE)
def test_what_cannot_be_read_is_refused_with_advice(
    fold: Callable[[list[Any]], object], message: Any, advice: str
) -> None:
    with pytest.raises(MessageError, match=r"messages\[1\]") as caught:
        fold([{"role": "user", "content": "hi"}, message])
    assert advice in str(caught.value)
    assert "model_dump" not in str(caught.value)


def test_what_its_own_dump_makes_readable_is_told_so() -> None:
    with pytest.raises(MessageError, match=r"convert it with its model_dump\(\)"):
        compress([OTHER])
    assert compress([OTHER.model_dump()]).messages == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize("message", [PYDANTIC_AI, PYDANTIC_AI_DUMP])
@pytest.mark.parametrize("name", ["should_compress", "compress", "view"])
def test_the_manager_does_not_pass_over_what_it_cannot_read(message: Any, name: str) -> None:
    with pytest.raises(MessageError, match=r"messages\[0\].*pydantic-ai"):
        getattr(CompressionManager(), name)([message])


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
