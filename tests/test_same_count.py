"""With `same_count`, every message has its own place in what comes out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import Session, compress, uncompress
from tests.conversations import SENTENCES, Conversation, conversations

LONG = " ".join(SENTENCES)


def run(turns: int) -> Conversation:
    messages: Conversation = [{"role": "user", "content": "Read all of it."}]
    for n in range(turns):
        function = {"name": "read", "arguments": "{}"}
        call = {"id": f"c{n}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": f"{n} {LONG}", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": f"{n} {LONG}"})
    return [*messages, {"role": "assistant", "content": LONG}, {"role": "user", "content": "So?"}]


@pytest.mark.parametrize("profile", ["classic", "standard"])
@pytest.mark.parametrize("budget", [None, 1_000, 2_000])
def test_roles_and_calls_are_those_that_were_given(profile: Any, budget: int | None) -> None:
    messages = run(10)
    result = compress(messages, profile=profile, token_budget=budget, same_count=True)
    assert [m["role"] for m in result.messages] == [m["role"] for m in messages]
    for key in ("tool_calls", "tool_call_id"):
        assert [m.get(key) for m in result.messages] == [m.get(key) for m in messages]
    assert uncompress(result.messages, result.verbatim).messages == messages
    if budget:
        assert result.fits


def test_so_are_those_of_a_session() -> None:
    session = Session(token_budget=1_500, same_count=True)
    messages = run(10)
    for end, message in enumerate(messages, 1):
        session.append(message)
        view = session.view()
        assert len(view) == end
        assert uncompress(view, session.verbatim).messages == messages[:end]
    assert session.report.folds


@given(
    conversations(),
    st.sampled_from(("classic", "standard", "lossless")),
    st.sampled_from((None, 0, 60, 300)),
)
def test_as_many_come_out_as_went_in(
    messages: Conversation, profile: Any, budget: int | None
) -> None:
    result = compress(
        messages, profile=profile, token_budget=budget, same_count=True, recency_window=0
    )
    assert len(result.messages) == len(messages)
    assert uncompress(result.messages, result.verbatim).messages == messages
