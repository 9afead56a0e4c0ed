"""`search`: the past answers in its own words, in short pieces, within a limit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.scan.tokens.estimate import estimate_tokens
from refold.tools.search import search

ORDERS = {
    "orders": [
        {"id": f"W{n}00", "status": "shipped", "note": "left at the door of the shed " * 6}
        for n in range(1, 9)
    ]
}


def call(id_: str, name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": id_, "type": "function", "function": function}],
    }


def result(id_: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": text}


TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You water the garden of a zeppelin."},
    {"role": "user", "content": "My orders are missing. Never call me before noon."},
    call("a", "find_orders", mail="ann@example.org"),
    result("a", json.dumps(ORDERS)),
    call("b", "write_file", path="notes/first.md", content="- orders"),
    result("b", "done"),
    call("c", "write_file", path="notes/second.md", content="- call later"),
    result("c", "done"),
    call("d", "bash", command="make frobnicate"),
    result("d", "\n".join([*(f"step {n} of the build" for n in range(80)), "exit_code: 3"])),
    {"role": "assistant", "content": "The build of the gate has failed."},
]


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("What is the status of order W500?", '"id": "W500", "status": "shipped"'),
        ("Which file did the agent create first?", "notes/first.md"),
        ("Which file was edited last?", "notes/second.md"),
        ("What was the exit code of make frobnicate?", "exit_code: 3"),
        ("What did the user say that we must not do?", "Never call me before noon."),
        ("gate failed", "The build of the gate has failed."),
    ],
)
def test_a_question_brings_its_answer(query: str, answer: str) -> None:
    assert answer in search(TALK, query, max_tokens=300)


def test_pieces_stand_below_their_message_and_their_call() -> None:
    lines = search(TALK, "exit_code of make frobnicate", max_tokens=200).splitlines()
    assert '[message 10, result of bash {"command": "make frobnicate"}]' in lines
    assert lines[-1].endswith("more pieces have some of these words: narrow the query]")


def test_records_have_the_names_that_lead_to_them() -> None:
    assert 'orders > 4: {"id": "W500"' in search(TALK, "W500", max_tokens=200)


def test_nothing_of_the_prompt_and_nothing_without_the_words() -> None:
    assert search(TALK, "zeppelin") == "[nothing here has these words: zeppelin]"
    assert search([], "anything") == "[nothing here has these words: anything]"
    assert search(TALK, "?!") == "[nothing here has these words: ?!]"


@given(st.text('ab {}[]:,"\n#@.-0123漢', max_size=400), st.text("ab漢 #", max_size=20))
def test_any_text_is_searched_and_pieces_are_of_it(text: str, query: str) -> None:
    messages = [{"role": "user", "content": text}]
    answer = search(messages, query)
    assert answer == search(messages, query)
    body = answer.split("\n", 1)[1] if answer.startswith("[message") else ""
    if not text.lstrip().startswith(("{", "[")):
        assert all(line in text or line == "…" for line in body.split("\n"))


@given(st.integers(1, 2_000), st.sampled_from(["step build", "W500 order", "call", "done"]))
def test_the_limit_is_kept(max_tokens: int, query: str) -> None:
    assert estimate_tokens(search(TALK, query, max_tokens=max_tokens)) <= max(max_tokens, 30)


def test_a_line_longer_than_a_piece_is_cut() -> None:
    words = " ".join(f"word{n}" for n in range(4_000))
    answer = search([{"role": "user", "content": words}], "word3210", max_tokens=400)
    assert "word3210" in answer
    assert len(answer) < len(words) / 10
