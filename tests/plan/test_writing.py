"""What was chosen is written as it stands, with a mark wherever something is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.messages.folds import Fold
from refold.plan.calls import spell_call
from refold.plan.corpus import CALLS, Text, read_texts
from refold.plan.writing import (
    Chosen,
    Pick,
    share_shown,
    write_digest,
    write_excerpt,
    write_line,
)
from tests.plan.runs import anthropic_call, call, counted, read, source_code


@given(st.integers(0, 10**6), st.data())
def test_a_share_is_never_rounded_up_to_all(length: int, data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, length))
    assert 0 <= share_shown(stop, length) <= 99


def texts_of_run(wires: list[dict[str, Any]]) -> list[dict[int, Text]]:
    """Return the texts of each message."""
    return [
        {
            number: Text(message, number, said, len(said.split()), "prose", True)
            for number, said in (
                *((n, part.text) for n, part in enumerate(message.parts)),
                (CALLS, "\n".join(spell_call(call) for call in message.calls)),
            )
            if said
        }
        for message in read(wires)
    ]


def digest(wires: list[dict[str, Any]], spans: Mapping[int, Chosen]) -> Fold:
    """Write a digest of all messages that shows these spans of each."""
    messages = read(wires)
    columns = zip(messages, texts_of_run(wires), strict=True)
    return write_digest(messages, [write_line(m, t, spans.get(m.index, {})) for m, t in columns])


def test_an_excerpt_shows_the_spans_and_says_how_much() -> None:
    code = source_code(1)
    wires = call(1, "read_file", {"path": "a.py"}, code)
    run = read(wires)
    fold = write_excerpt(run[1], texts_of_run(wires)[1], {0: Pick([(0, len(code) // 4)])})
    head, _, body = fold.texts[0].partition("\n")
    assert re.match(r"\[2\d% shown #", head)
    assert head.endswith("]")
    assert body.startswith(code[: len(code) // 4])
    assert re.fullmatch(r"\n… \d+ lines …", body.removeprefix(code[: len(code) // 4]))
    assert fold.outcomes[0][0].action == "excerpted"
    assert fold.sources == (run[1],)
    assert not fold.is_rolled


@pytest.mark.parametrize(
    ("end", "note"),
    [("", "\n… 29 passed …"), ("test result: FAILED. 30 passed; 1 failed\n", "")],
)
def test_tests_that_passed_are_counted_where_the_run_does_not(end: str, note: str) -> None:
    passed = "".join(f"test shop::till_{n} ... ok\n" for n in range(30))
    failed = "test shop::drawer ... FAILED\n"
    output = f"{passed}{failed}{end}"
    run = call(1, "bash", {"command": "cargo test"}, output)
    text = texts_of_run(run)[1][0]._replace(kind="test_run")
    shown = [(0, len("test shop::till_0 ... ok\n")), (len(passed), len(passed + failed))]
    fold = write_excerpt(read(run)[1], {0: text}, {0: Pick(shown)})
    assert fold.texts[0].endswith(f"till_0 ... ok\n… 29 lines …\n{failed.strip()}{note}")


def test_the_head_says_how_many_errors_are_left_out() -> None:
    wires = call(1, "bash", {"command": "make"}, source_code(1))
    shown = [(0, 40)]
    excerpt = write_excerpt(read(wires)[1], texts_of_run(wires)[1], {0: Pick(shown, errors=1)})
    assert re.match(r"\[shortened, 1 error left out #[a-z]+\]\n", excerpt.texts[0])
    fold = digest(wires, {0: {CALLS: Pick(errors=2)}, 1: {0: Pick(shown, errors=130)}})
    assert re.match(
        r"\[2 messages, shortened, one hundred errors left out #[a-z]+\]\n", fold.texts[0]
    )


def test_an_excerpt_that_would_be_longer_is_not_used() -> None:
    run = call(1, "read_file", {"path": "a.py"}, "a b c d e")
    fold = write_excerpt(read(run)[1], texts_of_run(run)[1], {0: Pick([(0, 9)])})
    assert fold.is_kept
    assert fold.outcomes[0][0].action == "preserved"


def test_only_the_open_texts_of_a_message_are_cut() -> None:
    wires = anthropic_call(1, "read_file", {"path": "a.py"}, source_code(1))
    wires[1]["content"].append({"type": "text", "text": "Mind the rules."})
    message = read(wires)[1]
    fold = write_excerpt(message, {0: texts_of_run(wires)[1][0]}, {})
    assert set(fold.texts) == {0}
    assert fold.texts_after[1] == "Mind the rules."
    assert [outcome.action for outcome in fold.outcomes[0]] == ["excerpted", "preserved"]


def test_a_digest_names_who_spoke_and_leaves_out_who_says_nothing() -> None:
    wires = [
        {"role": "user", "content": "Look at the harbour."},
        *call(1, "read_file", {"path": "a.py"}, source_code(1)),
        {"role": "assistant", "content": "Nothing there."},
    ]
    picks = {
        0: {0: Pick([(0, 4)])},
        1: {CALLS: Pick([(0, 9)])},
        2: {0: Pick([(0, 8), (20, 30)])},
    }
    fold = digest(wires, picks)
    head, *lines = fold.texts[0].split("\n")
    assert re.fullmatch(r"\[4 messages, shortened #[a-z]+\]", head)
    assert lines[0] == "user: Look…"
    assert lines[1] == "assistant: read_file…"
    assert lines[2].startswith("tool: def step")
    assert "Nothing" not in fold.texts[0]
    assert fold.is_rolled
    assert len(fold.outcomes) == len(fold.sources) == 4
    assert {outcome.action for row in fold.outcomes for outcome in row} == {"digested"}


def test_a_digest_of_nothing_still_stands_for_its_sources() -> None:
    wires = call(1, "read_file", {"path": "a.py"}, source_code(1))
    fold = digest(wires, {})
    assert re.fullmatch(r"\[2 messages #[a-z]+\]", fold.texts[0])
    assert len(fold.sources) == 2


def test_words_of_the_assistant_alone_need_no_label_in_his_digest() -> None:
    wires = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "At nine."},
        {"role": "assistant", "content": "From pier 4."},
    ]
    alone = digest(wires, {1: {0: Pick([(0, 8)])}})
    assert alone.texts[0].endswith("]\nAt nine.")
    both = digest(wires, {1: {0: Pick([(0, 8)])}, 2: {0: Pick([(0, 12)])}})
    assert both.texts[0].endswith("]\nassistant: At nine.\nassistant: From pier 4.")
    asked = digest(wires, {0: {0: Pick([(0, 5)])}})
    assert asked.texts[0].endswith("]\nuser: When?")


def test_a_label_and_a_script_without_blanks_share_no_blank() -> None:
    wires = [{"role": "user", "content": "船九点开。"}, {"role": "user", "content": "At nine."}]
    (text,) = digest(wires, {0: {0: Pick([(0, 5)])}, 1: {0: Pick([(0, 8)])}}).texts.values()
    assert text.splitlines()[1:] == ["user:船九点开。", "user: At nine."]


def test_a_trace_names_the_kind_of_each_text_and_whether_it_is_out_of_date() -> None:
    wires = call(1, "read_file", {"path": "a.py"}, source_code(1))
    messages, texts = read(wires), texts_of_run(wires)
    texts[1][0] = texts[1][0]._replace(kind="file_read", is_outdated=True)
    reasons = [
        write_line(message, said, {}).outcome.reason
        for message, said in zip(messages, texts, strict=True)
    ]
    assert reasons == ["oldest_stretch", "digest:file_read,out_of_date"]
    excerpt = write_excerpt(messages[1], texts[1], {0: Pick([(0, 40)])})
    assert excerpt.outcomes[0][0].reason.startswith("excerpt:file_read,out_of_date,")


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("read_file", {"path": "/w/src/a.py"}, "read_file a.py"),
        ("bash", {"command": "cat src/a.py"}, "bash a.py"),
        ("bash", {"command": "cat a.py b.py"}, "bash cat a.py b.py"),
        ("bash", {"command": "cat a.py b.py | grep -n letters | head"}, "bash"),
        ("get_order", {"order": "W7"}, "get_order W7"),
    ],
)
def test_a_digest_names_the_tool_that_said_something_and_what_it_was_called_for(
    tool: str, arguments: dict[str, str], named: str
) -> None:
    said = "the clerk sorts the letters"
    for wires in (call(1, tool, arguments, said), anthropic_call(1, tool, arguments, said)):
        texts = read_texts(read(wires), counted(), {})
        result = next(text for text in texts if text.part != CALLS)
        line = write_line(result.message, {result.part: result}, {result.part: Pick([(0, 9)])})
        assert [speaker for speaker, _ in line.said] == [named]
