"""What a model has fetched back is never folded again: it would only ask for it once more."""

from __future__ import annotations

from typing import Any

import pytest

from refold import Session, compress, uncompress
from tests.conversations import SENTENCES, Conversation

LONG = " ".join(SENTENCES)


def called(number: int, name: str, id_: str = "") -> Conversation:
    id_ = id_ or f"c{number}"
    function = {"name": name, "arguments": f'{{"n": {number}}}'}
    call = {"id": id_, "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id_, "content": f"{number} {LONG}"},
    ]


def run(name: str) -> Conversation:
    return [
        {"role": "user", "content": "Read it."},
        *called(0, name),
        *(message for number in range(1, 9) for message in called(number, "read")),
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "And now?"},
    ]


@pytest.mark.parametrize("name", ["retrieve_original", "mcp__refold__refold_retrieve"])
@pytest.mark.parametrize("profile", ["classic", "standard", "lossless"])
@pytest.mark.parametrize("budget", [None, 1_500])
def test_what_was_fetched_back_stays(name: str, profile: Any, budget: int | None) -> None:
    messages = run(name)
    result = compress(messages, profile=profile, token_budget=budget, recency_window=0)
    assert result.messages[1:3] == messages[1:3]
    assert uncompress(result.messages, result.verbatim).messages == messages


def test_so_it_does_in_a_session() -> None:
    session = Session(token_budget=1_500)
    messages = run("retrieve_original")
    for message in messages:
        session.append(message)
        view = session.view()
    assert session.report.folds
    assert messages[2] in view
    assert uncompress(view, session.verbatim).messages == messages


def test_an_id_that_is_used_again_is_that_of_its_latest_call() -> None:
    messages = [
        {"role": "user", "content": "Read it."},
        *called(0, "retrieve_original", id_="0"),
        *called(1, "read", id_="0"),
        *(message for number in range(2, 6) for message in called(number, "read")),
        {"role": "user", "content": "And now?"},
    ]
    result = compress(messages, profile="classic", recency_window=0)
    assert result.messages[2] == messages[2]
    assert result.messages[4] != messages[4]
