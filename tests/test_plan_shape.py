"""A finished plan as providers and callers want it: the user begins, one comes out for one in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold import FoldThresholds, MemoryStore, Session, compress, uncompress
from tests.conversations import SENTENCES, Conversation, conversations
from tests.formats.generated import bedrock, gemini

ASKED = "And what does the harbour master charge for a berth over night, in all?"
LONG = " ".join(SENTENCES)


def talk(turns: int) -> Conversation:
    said = "The ferry number {} leaves at {} past nine, and the clerk has sold {} tickets for it."
    return [
        {"role": ("user", "assistant")[n % 2], "content": said.format(n, n + 7, n * 31)}
        for n in range(turns)
    ]


def test_a_digest_at_the_beginning_is_the_users() -> None:
    messages = talk(40)
    for budget in range(30, 200, 17):
        result = compress(messages, token_budget=budget, model="gpt-4o")
        assert result.fits
        assert result.messages[0]["role"] == "user"
        assert uncompress(result.messages, result.verbatim).messages == messages


def test_tool_calls_show_that_any_order_will_do() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "sell", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Sell all the tickets, one after the other. " * 20},
        *talk(40)[1:],
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "sold"},
    ]
    result = compress(messages, token_budget=60, model="gpt-4o")
    assert result.messages[0]["role"] == "assistant"
    to_the_brim = FoldThresholds(high_water=1.0, low_water=1.0)
    session = Session(token_budget=60, model="gpt-4o", thresholds=to_the_brim)
    session.extend(messages)
    assert session.view() == result.messages


def test_it_is_neither_a_task_nor_a_question_afterwards() -> None:
    store = MemoryStore()
    first = compress(talk(40), token_budget=60, model="gpt-4o", store=store)
    assert first.messages[0]["role"] == "user"
    grown = [*first.messages, {"role": "user", "content": ASKED}, *talk(20)[1::2]]
    again = compress(grown, token_budget=160, model="gpt-4o", store=store, trace=True)
    reasons = [entry.reason for entry in again.decisions]
    assert reasons[0] not in ("first_task", "last_user_message")
    assert reasons[len(first.messages)] == "last_user_message"


@settings(max_examples=15)
@given(st.one_of(gemini(), bedrock()), st.sampled_from((0, 1, 20, 60, 120)))
def test_lines_between_the_sides_never_make_it_longer(messages: Conversation, budget: int) -> None:
    result = compress(messages, token_budget=budget, model="gpt-4o")
    assert result.tokens_after <= result.tokens_before


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


@settings(max_examples=15)
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
