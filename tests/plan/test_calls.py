"""Calls are told as lines, the first of which says what was done, and changes are told apart."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from refold.messages.message import Call
from refold.plan.calls import find_failed, spell_call, spell_calls
from tests.plan.runs import call, read


def test_short_arguments_stand_beside_the_tool_and_long_ones_below() -> None:
    arguments = json.dumps(
        {"path": "a.py", "old": "x = 1\ny = 2", "count": 3, "flags": ["-a", "b"]}
    )
    assert spell_call(Call("c", "edit", arguments)) == (
        "edit path=a.py count=3 flags=-a, b\nold:\nx = 1\ny = 2"
    )


def test_what_a_call_was_about_is_on_its_first_line_even_if_it_is_long() -> None:
    script = "cd src && python3 - <<EOF\nprint(1)\nEOF"
    head, *below = spell_call(Call("c", "bash", {"command": script})).split("\n")
    assert head == "bash command=cd src && python3 - <<EOF …"
    assert "print(1)" in below
    begins_late = Call("c", "bash", {"command": f"\n\n  {script}"})
    assert spell_call(begins_late).split("\n")[0] == head


def test_nested_arguments_are_lines_without_escapes() -> None:
    arguments = json.dumps({"edits": [{"old": "a\nb", "new": "c"}], "dry": None})
    assert spell_call(Call("c", "multi_edit", arguments)) == (
        "multi_edit dry=null\nedits:\nnew=c\nold:\na\nb"
    )


def test_a_call_that_went_wrong_says_so() -> None:
    assert (
        spell_call(Call("c", "edit", {"path": "a.py"}), has_failed=True)
        == "edit path=a.py (failed)"
    )


@given(st.text(), st.text())
def test_any_call_can_be_spelled(name: str, arguments: str) -> None:
    spelled = spell_calls([Call("c", name, arguments), Call("d", "read", {})], [False, True])
    assert [start for start, _ in spelled.heads] == [0, len(spelled.text) - len("read (failed)")]


def test_calls_fail_by_what_their_results_say() -> None:
    run = read([*call(1, "edit", {}, "Error: no such file"), *call(2, "edit", {}, "done")])
    assert find_failed(run) == frozenset({run[0].calls[0].id})


def test_a_block_that_says_so_has_failed_whatever_its_text() -> None:
    results = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True},
        {"type": "tool_result", "tool_use_id": "c2", "content": "yes"},
    ]
    assert find_failed(read([{"role": "user", "content": results}])) == frozenset({"c1"})
