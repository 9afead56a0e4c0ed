"""What a model thought is counted, and never repeated outside of its own block."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from refold import ContextWindowManager, uncompress
from refold.conversation.strategies import StrategyName
from refold.tools.manager import CompressionManager
from tests.classic import Session, compress
from tests.conversations import SENTENCES

SECRET = "zyxthought"
LONG = " ".join(SENTENCES)
THOUGHT = f"The {SECRET} says that 4711 of /srv/{SECRET}.py must go. {LONG}"
OUTPUT = "\n".join(f"{n} {SENTENCES[n % len(SENTENCES)]}" for n in range(16))

BLOCKS: dict[str, dict[str, Any]] = {
    "thinking": {"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"},
    "redacted": {"type": "redacted_thinking", "data": THOUGHT},
    "reasoning": {"type": "reasoning", "reasoning": THOUGHT},
    "reasoning text": {"type": "reasoning_text", "text": THOUGHT},
}


def anthropic(kind: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Fix it. {LONG}"}]
    for n in range(4):
        use = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"path": f"a{n}.py"}}
        text = {"type": "text", "text": f"{n}. {LONG}"}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"{n}\n{OUTPUT}"}
        messages.append({"role": "assistant", "content": [BLOCKS[kind], text, use]})
        messages.append({"role": "user", "content": [result]})
    return [*messages, {"role": "user", "content": "And now?"}]


def responses() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Fix it. {LONG}"}]
    for n in range(4):
        summary = [{"type": "summary_text", "text": THOUGHT}]
        content = [{"type": "reasoning_text", "text": THOUGHT}]
        messages += [
            {"type": "reasoning", "id": f"r{n}", "summary": summary, "content": content},
            {"type": "function_call", "call_id": f"c{n}", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": f"c{n}", "output": f"{n}\n{OUTPUT}"},
            {"role": "assistant", "content": f"{n}. {LONG}"},
        ]
    return [*messages, {"role": "user", "content": "And now?"}]


def chat() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Fix it. {LONG}"}]
    for n in range(4):
        function = {"name": "read", "arguments": f'{{"n": {n}}}'}
        call = {"id": f"c{n}", "type": "function", "function": function}
        messages += [
            {
                "role": "assistant",
                "content": f"{n}. {LONG}",
                "reasoning_content": THOUGHT,
                "tool_calls": [call],
            },
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"{n}\n{OUTPUT}"},
            {"role": "assistant", "content": f"So {n}. {LONG}", "reasoning_content": THOUGHT},
        ]
    return [*messages, {"role": "user", "content": "And now?"}]


CONVERSATIONS = {**{kind: anthropic(kind) for kind in BLOCKS}, "items": responses(), "chat": chat()}
EACH = pytest.mark.parametrize("messages", CONVERSATIONS.values(), ids=CONVERSATIONS)


def without_thinking(value: Any) -> Any:
    """Return *value* without what thinking stands in."""
    if isinstance(value, list):
        return [without_thinking(item) for item in value]
    if isinstance(value, dict):
        kind = str(value.get("type", ""))
        if "thinking" in kind or "reasoning" in kind:
            return {}
        rest = {name: item for name, item in value.items() if name != "reasoning_content"}
        return {name: without_thinking(item) for name, item in rest.items()}
    return value


def check_unsaid(messages: list[Any]) -> None:
    assert SECRET not in json.dumps(without_thinking(messages))


@EACH
@pytest.mark.parametrize("profile", ["classic", "standard", "lossless"])
@pytest.mark.parametrize("budget", [None, 1_200, 200])
def test_no_stand_in_repeats_it(
    messages: list[dict[str, Any]], profile: Any, budget: int | None
) -> None:
    result = compress(messages, profile=profile, token_budget=budget)
    check_unsaid(result.messages)
    assert uncompress(result.messages, result.verbatim).messages == messages


@EACH
def test_neither_does_a_session_a_window_or_a_manager(messages: list[dict[str, Any]]) -> None:
    for profile in ("classic", "standard"):
        session = Session(profile=profile, token_budget=900)
        session.extend(messages)
        check_unsaid(session.view())
    for strategy in get_args(StrategyName):
        window = ContextWindowManager(
            context_limit=2_000,
            reserve_output_tokens=500,
            strategy=strategy,
        )
        check_unsaid(window.fit(messages).messages)
    manager = CompressionManager()
    manager.compress(messages, in_place=False)
    check_unsaid(manager.view(messages))


@EACH
def test_no_model_is_told(messages: list[dict[str, Any]]) -> None:
    told: list[str] = []

    def summarize(text: str) -> str:
        told.append(text)
        return text[: len(text) // 3]

    for budget in (None, 900):
        compress(messages, token_budget=budget, recency_window=0, summarizer=summarize)
    window = ContextWindowManager(
        context_limit=2_000,
        reserve_output_tokens=500,
        strategy="summarize",
        summarizer=summarize,
    )
    window.fit(messages)
    CompressionManager(summarizer=summarize).compress(messages, in_place=False)
    assert told
    assert SECRET not in "".join(told)


@pytest.mark.parametrize("kind", BLOCKS)
def test_it_is_counted(kind: str) -> None:
    text = {"type": "text", "text": "ok"}
    bare, whole = (
        compress([{"role": "assistant", "content": content}]).compression.tokens_before
        for content in ([text], [BLOCKS[kind], text])
    )
    assert whole - bare > 20
