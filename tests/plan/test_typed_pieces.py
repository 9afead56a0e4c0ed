"""What people typed leaves a trace, also between the lines of a program that speaks for them."""

from __future__ import annotations

import pytest

from refold import compress
from tests.conversations import Wire
from tests.plan.runs import call, source_code


def service_run(turns: int) -> list[Wire]:
    """A customer says something short at every turn; tools answer with much."""
    messages: list[Wire] = [{"role": "user", "content": "I want to change an order."}]
    for number in range(turns):
        messages += call(number, "get_order", {"order": f"W{number}"}, source_code(number, 30))
        messages.append({"role": "assistant", "content": f"Which item of W{number} is it?"})
        messages.append(
            {"role": "user", "content": f"The lamp number {number} from room {number}."}
        )
    return messages


def chat_program_run(wishes: list[str]) -> list[Wire]:
    """A chat program puts its own lines before what its user typed."""
    messages: list[Wire] = [{"role": "user", "content": "Add a test for the headers."}]
    for number, wish in enumerate(wishes):
        messages.append({"role": "assistant", "content": source_code(number, 40)})
        program = (
            f"Applied edit to tests/test_{number}.py\nCommit 84596{number} feat: another test\n"
            f"You can use /undo to revert and discard commit 84596{number}.\n"
        )
        messages.append({"role": "user", "content": program + wish})
    messages.append({"role": "assistant", "content": source_code(99, 60)})
    return messages


def shown(messages: list[Wire], share: float) -> str:
    whole = compress(messages, token_budget=10**9, profile="standard").tokens_before
    view = compress(messages, token_budget=int(share * whole), profile="standard").messages
    return "\n".join(str(message["content"]) for message in view)


@pytest.mark.parametrize("share", [0.5, 0.3])
def test_every_message_that_was_typed_leaves_a_trace(share: float) -> None:
    view = shown(service_run(8), share)
    assert [n for n in range(8) if f"lamp number {n} from room {n}." not in view] == []


def test_a_message_too_long_to_count_as_typed_leaves_a_trace_where_there_is_room() -> None:
    """Even where somebody else says all of it again."""
    long = "Please book the cheapest one. " + " ".join(
        f"The lamp number {n} should go into room {n}, and the chair {n} stays where it is."
        for n in range(14)
    )
    messages = service_run(8)
    messages[-7:-7] = [
        {"role": "user", "content": long},
        {"role": "assistant", "content": f"You said: {long} I will do that."},
    ]
    assert len(long.split()) > 200
    assert shown(messages, 0.5).count("Please book the cheapest one.") == 2


@pytest.mark.parametrize("share", [0.5, 0.3])
def test_the_lines_of_a_program_are_not_taken_for_what_its_user_typed(share: float) -> None:
    wishes = ["no, mock the transport", "get not post", "rename it to Gate", "and sort them"]
    view = shown(chat_program_run(wishes), share)
    assert [wish for wish in wishes if wish not in view] == []
