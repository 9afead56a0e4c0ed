"""Drive a session step by step: append a few messages, look at it, sometimes with a budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from refold import Session, uncompress
from tests.conversations import (
    SENTENCES,
    Conversation,
    Wire,
    anthropic,
    openai_chat,
    plain,
    spelled,
)
from tests.plan.ladder.promise import words

Draw = Callable[[st.SearchStrategy[Any]], Any]

PROSE = " ".join(SENTENCES[n] for n in (0, 1, 7, 6))


@dataclass(frozen=True)
class Step:
    """Messages to append, and the budget of the view that follows; `None` for none."""

    messages: Conversation
    token_budget: int | None


@st.composite
def long_talk(draw: Draw) -> Conversation:
    """A conversation long enough for triggers to fire: big and small turns, tools, copies."""
    messages: Conversation = [{"role": "system", "content": "Be brief."}]
    told: list[str] = []
    for n in range(draw(st.integers(4, 14))):
        text = f"Turn {n}. " + PROSE * draw(st.integers(1, 6))
        if told and draw(st.integers(0, 3)) == 0:
            text = draw(st.sampled_from(told))
        told.append(text)
        match draw(st.integers(0, 4)):
            case 0:
                messages.append({"role": "user", "content": text})
            case 1:
                messages.append({"role": "assistant", "content": text})
            case 2:
                messages.append({"role": "user", "content": f"ok {n}"})
            case _:
                messages.extend(_call(n, text))
    return messages


def _call(number: int, output: str) -> list[Wire]:
    function = {"name": "read", "arguments": '{"path": "a.py"}'}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": output},
    ]


@st.composite
def steps(draw: Draw) -> list[Step]:
    """Cut a conversation into steps, each followed by a view."""
    whole: Conversation = draw(
        st.one_of(long_talk(), long_talk(), plain(), openai_chat(), anthropic())
    )
    kind = draw(st.sampled_from(("none", "fixed", "any")))
    fixed = draw(st.sampled_from((60, 150, 300, 800, 2_000)))
    cut: list[Step] = []
    start = 0
    while start < len(whole):
        end = start + draw(st.integers(1, 6))
        budget: int | None = None
        if kind == "fixed":
            budget = fixed
        elif kind == "any":
            budget = draw(st.sampled_from((None, 40, 150, 400, 1_000, 3_000)))
        cut.append(Step(whole[start:end], budget))
        start = end
    return cut


def session_options() -> st.SearchStrategy[dict[str, Any]]:
    """Options that make triggers fire often."""
    return st.builds(
        lambda chosen, window: {**chosen, "recency_window": window, "counter": words},
        st.sampled_from(
            (
                {},
                {},
                {"fuzzy_dedup": True},
                {"dedup": False},
                {"contradiction_detection": True},
                {"importance_scoring": True},
                {"embed_summary_id": True},
                {"compression_depth": "aggressive"},
                {"min_recency_window": 1},
            )
        ),
        st.sampled_from((0, 1, 2, 4)),
    )


def assert_whole(session: Session, given: Conversation, view: Conversation) -> None:
    """The view unfolds to everything that was given, byte for byte."""
    restored = uncompress(view, session.verbatim)
    assert not restored.missing_ids
    assert spelled(restored.messages) == spelled(given)
