"""Without a budget: what is said at length goes by the rules, and nothing else is shortened."""

from __future__ import annotations

import json
from typing import Any

import pytest

from refold import compress, uncompress
from tests.conversations import Conversation, spelled

ADVICE = " ".join(
    f"The sluice at mile {n} was opened at noon and the water fell by {n + 3} cm within an hour. "
    "It rained for most of the week and nobody went up to the reservoir to read the gauge."
    for n in range(6)
)
LETTER = " ".join(
    f"On day {n} of the journey we met the ferryman again and he told us about the old bridge."
    for n in range(16)
)
TYPED = "Please open the upper sluice first, and never touch the lower one before I say so. " * 5
LOG = "\n".join(f"2026-03-04 10:{n:02}:00 INFO gate {n} closed by the timer" for n in range(50))
CODE = "```python\n" + "\n".join(f"gate_{n} = close({n})" for n in range(30)) + "\n```"
TAIL: Conversation = [{"role": "assistant", "content": f"Day {n} is done."} for n in range(4)]
TASK = {"role": "user", "content": f"Water the fields. {LETTER}"}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def shown(*messages: dict[str, Any], **choices: Any) -> list[Any]:
    """Fold *messages* after a task; return what is shown of them."""
    given = [TASK, *messages, *TAIL, user("Go on.")]
    result = compress(given, **choices)
    assert spelled(uncompress(result.messages, result.verbatim).messages) == spelled(given)
    assert result.messages[0] == TASK
    return [message["content"] for message in result.messages[1 : -len(TAIL) - 1]]


def test_long_prose_of_the_assistant_is_summarized() -> None:
    (text,) = shown(assistant(ADVICE))
    assert len(text) < len(ADVICE) / 2


def test_what_people_typed_stays() -> None:
    assert shown(user(TYPED), assistant("Yes."), user("ok " * 40)) == [TYPED, "Yes.", "ok " * 40]


def test_what_people_pasted_is_said_shorter_without_loss() -> None:
    (text,) = shown(user(LOG))
    assert len(text) < len(LOG)
    assert all(f"{n:02}" in text for n in (0, 49))


def test_code_stays() -> None:
    (text,) = shown(assistant(f"{ADVICE}\n\n{CODE}"))
    assert CODE in text
    assert len(text) < len(ADVICE)


def test_neighbours_share_a_summary() -> None:
    assert len(shown(assistant(ADVICE), assistant(f"Later: {ADVICE}"))) == 1


def test_what_is_said_beside_calls_is_shortened_and_the_calls_stay() -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "open", "arguments": "{}"}}]
    given = [
        TASK,
        {**assistant(ADVICE), "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "opened"},
        *TAIL,
        user("Go on."),
    ]
    result = compress(given)
    assert result.messages[1]["tool_calls"] == calls
    assert len(result.messages[1]["content"]) < len(ADVICE) / 2
    assert uncompress(result.messages, result.verbatim).messages == given


def test_what_was_thought_before_a_call_leaves_its_message_alone() -> None:
    thought = {"type": "thinking", "thinking": "First the sluice.", "signature": "sig"}
    call = {"type": "tool_use", "id": "c1", "name": "open", "input": {}}
    said = [thought, {"type": "text", "text": ADVICE}, call]
    given: Conversation = [
        TASK,
        {"role": "assistant", "content": said},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "k"}]},
        *TAIL,
        user("Go on."),
    ]
    assert compress(given).messages[1]["content"] == said


def test_a_model_may_write_the_summary() -> None:
    short = "The sluices were opened and the water fell."
    facts = ", ".join(f"mile {n}: {n + 3} cm" for n in range(6))

    def write(text: str) -> str:
        return f"{short} {facts}. It rained and nobody read the gauge." if text == ADVICE else text

    given = [TASK, assistant(ADVICE), *TAIL, user("Go on.")]
    result = compress(given, summarizer=write)
    assert result.model is not None
    assert result.model.accepted == 1
    assert short in result.messages[1]["content"]


@pytest.mark.parametrize("profile", ["standard", "lossless"])
def test_tool_results_are_never_cut(profile: Any) -> None:
    rows = json.dumps([{"gate": n, "state": "closed", "level": n * 7} for n in range(40)])
    calls = [{"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}]
    given = [
        TASK,
        {**assistant(""), "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": rows},
        *TAIL,
    ]
    text = compress(given, profile=profile).messages[2]["content"]
    assert len(text) < len(rows)
    assert all(str(n * 7) in text for n in range(40))


def test_what_a_person_typed_is_never_touched() -> None:
    assert shown(user(LETTER)) == [LETTER]
