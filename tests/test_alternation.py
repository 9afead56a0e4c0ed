"""Who begins and who ends: the user where a provider wants it, and whoever spoke last."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import MemoryStore, compress, uncompress
from tests.conversations import SENTENCES, Conversation
from tests.messages.formats.generated import bedrock, gemini

ASKED = "And what does the harbour master charge for a berth over night, in all?"


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


def test_it_is_neither_a_task_nor_a_question_afterwards() -> None:
    store = MemoryStore()
    first = compress(talk(40), token_budget=70, model="gpt-4o", store=store)
    assert first.messages[0]["role"] == "user"
    grown = [*first.messages, {"role": "user", "content": ASKED}, *talk(20)[1::2]]
    again = compress(grown, token_budget=160, model="gpt-4o", store=store, trace=True)
    reasons = [entry.reason for entry in again.decisions]
    assert reasons[0] not in ("first_task", "last_user_message")
    assert reasons[len(first.messages)] == "last_user_message"


@given(st.one_of(gemini(), bedrock()), st.sampled_from((0, 1, 20, 60, 120)))
def test_lines_between_the_sides_never_make_it_longer(messages: Conversation, budget: int) -> None:
    result = compress(messages, token_budget=budget, model="gpt-4o")
    assert result.tokens_after <= result.tokens_before


def test_a_summary_of_what_only_the_user_said_is_the_users() -> None:
    told = " ".join(SENTENCES[n] for n in (0, 1, 0, 4, 3))
    messages = [{"role": "user", "content": told}, {"role": "user", "content": "Thanks, go on."}]
    for budget in range(48, 110):
        result = compress(messages, summarizer=lambda _: SENTENCES[1], token_budget=budget)
        assert [message["role"] for message in result.messages] == ["user", "user"]
        assert uncompress(result.messages, result.verbatim).messages == messages


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_view_never_ends_with_the_assistant_where_its_conversation_does_not(kind: str) -> None:
    results = ["\n".join(f"{n}: row {n} of table {t}" for n in range(40)) for t in range(8)]
    messages: Conversation = [{"role": "user", "content": "Compare the tables."}]
    if kind == "openai":
        calls = [
            {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
            for n in range(8)
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [
            {"role": "tool", "tool_call_id": f"c{n}", "content": text}
            for n, text in enumerate(results)
        ]
    else:
        uses = [{"type": "tool_use", "id": f"c{n}", "name": "read", "input": {}} for n in range(8)]
        done = [
            {"type": "tool_result", "tool_use_id": f"c{n}", "content": text}
            for n, text in enumerate(results)
        ]
        messages += [{"role": "assistant", "content": uses}, {"role": "user", "content": done}]
    for budget in range(80, 300, 20):
        result = compress(messages, token_budget=budget, model="gpt-4o")
        assert result.fits
        assert result.messages[-1]["role"] != "assistant"
        assert uncompress(result.messages, result.verbatim).messages == messages
