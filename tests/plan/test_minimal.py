"""A budget that cannot be kept: what is left is still a conversation."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from refold import compress, uncompress
from tests.conversations import Conversation, spelled, texts_of
from tests.plan.runs import runs

TASK = "Please repair the gate, and never touch the wall beside it."
LAST = "Which of the parts is worn most? Answer in one line."


def output(n: int) -> str:
    return "\n".join(f"line {line} of part {n}: worn by {line * 37} um" for line in range(30))


def openai() -> Conversation:
    found: Conversation = [{"role": "system", "content": "You are careful."}]
    found.append({"role": "user", "content": TASK})
    for n in range(5):
        function = {"name": "read", "arguments": json.dumps({"part": n})}
        calls = [{"id": f"c{n}", "type": "function", "function": function}]
        found.append({"role": "assistant", "content": f"I look at part {n}.", "tool_calls": calls})
        found.append({"role": "tool", "tool_call_id": f"c{n}", "content": output(n)})
    return [*found, {"role": "assistant", "content": "Done."}, {"role": "user", "content": LAST}]


def anthropic(*, beside_result: bool = False) -> Conversation:
    found: Conversation = [{"role": "user", "content": [{"type": "text", "text": TASK}]}]
    for n in range(5):
        call = {"type": "tool_use", "id": f"c{n}", "name": "read", "input": {"part": n}}
        result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": output(n)}
        found.append({"role": "assistant", "content": [call]})
        found.append({"role": "user", "content": [result]})
    said = {"type": "text", "text": LAST}
    if beside_result:
        found[-1]["content"].append(said)
        return found
    found.append({"role": "assistant", "content": [{"type": "text", "text": "Done."}]})
    return [*found, {"role": "user", "content": [said]}]


def items() -> Conversation:
    def message(role: str, kind: str, text: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    found = [message("user", "input_text", TASK)]
    for n in range(5):
        call = {"type": "function_call", "call_id": f"c{n}", "name": "read", "arguments": "{}"}
        found += [call, {"type": "function_call_output", "call_id": f"c{n}", "output": output(n)}]
    found.append(message("assistant", "output_text", "Done."))
    return [*found, message("user", "input_text", LAST)]


CONVERSATIONS = {
    "openai": openai(),
    "anthropic": anthropic(),
    "beside a result": anthropic(beside_result=True),
    "items": items(),
}


@pytest.mark.parametrize("budget", [0, 1, 10])
@pytest.mark.parametrize("profile", ["standard", "lossless", "classic"])
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_task_and_question_survive_a_budget_that_cannot_be_kept(
    name: str, profile: Any, budget: int
) -> None:
    messages = CONVERSATIONS[name]
    result = compress(messages, profile=profile, token_budget=budget)
    assert not result.fits
    shown = spelled(result.messages)
    assert TASK in shown
    assert LAST in shown
    assert spelled(uncompress(result.messages, result.verbatim).messages) == spelled(messages)


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_nothing_else_is_shown(name: str) -> None:
    result = compress(CONVERSATIONS[name], token_budget=1)
    assert "worn by" not in spelled(result.messages)
    assert len(result.messages) <= 5


def test_it_says_why() -> None:
    result = compress(CONVERSATIONS["openai"], token_budget=1, trace=True)
    assert result.budget is not None
    assert {o.reason for o in result.budget.obstacles} == {
        *("preserved_role", "first_task", "last_user_message")
    }
    dropped = [entry for entry in result.decisions if entry.action == "digested"]
    assert {piece.reason for entry in dropped for piece in entry.pieces} == {"no_room"}


@given(runs())
def test_a_result_that_does_not_fit_holds_what_was_asked(messages: Conversation) -> None:
    result = compress(messages, token_budget=1)
    said = [m for m in messages if m["role"] == "user" and "".join(texts_of(m)).strip()]
    if said and not result.fits and isinstance(said[-1]["content"], str):
        assert said[-1]["content"] in [m.get("content") for m in result.messages]
    assert spelled(uncompress(result.messages, result.verbatim).messages) == spelled(messages)


@pytest.mark.parametrize("budget", range(36, 66, 6))
def test_it_is_the_last_resort(budget: int) -> None:
    """While a shorter plan fits, even one without task and question, that one is taken."""
    task = {"role": "user", "content": "Sell all the tickets, one after the other. " * 20}
    said = "The ferry number {} leaves at {} past nine, and the clerk has sold {} tickets for it."
    call = {"id": "c", "type": "function", "function": {"name": "sell", "arguments": "{}"}}
    messages: Conversation = [
        task,
        *(
            {"role": ("user", "assistant")[n % 2], "content": said.format(n, n + 7, n * 31)}
            for n in range(1, 40)
        ),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "sold"},
    ]
    assert compress(messages, token_budget=budget, model="gpt-4o").fits
