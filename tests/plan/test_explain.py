"""A trace tells of every piece of a text whether it was kept, and why."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import pytest
from hypothesis import assume, given, settings

from refold import Piece, Result, TraceEntry, compress
from refold.notation.recognize import said_in
from tests.conversations import Conversation, Wire, texts_of
from tests.plan.ladder.promise import words
from tests.plan.runs import call, check_log, runs, shares, source_code, squeeze

quick = settings(max_examples=15)
TASK: Wire = {"role": "user", "content": "Fix the queue."}


def explained(messages: Conversation, share: float) -> Result:
    return squeeze(messages, share, trace=True, counter=words)


def pieces_of(result: Result, index: int) -> tuple[Piece, ...]:
    return tuple(
        p for entry in result.decisions if entry.message_index == index for p in entry.pieces
    )


def reasons(pieces: Sequence[Piece], *, is_kept: bool) -> set[str]:
    return {piece.reason.partition(":")[0] for piece in pieces if piece.is_kept is is_kept}


def cut_entries(result: Result) -> Iterator[TraceEntry]:
    return (entry for entry in result.decisions if entry.action in ("excerpted", "digested"))


@quick
@given(runs(), shares)
def test_a_trace_changes_nothing(messages: Conversation, share: float) -> None:
    assert explained(messages, share).messages == squeeze(messages, share, counter=words).messages


@quick
@given(runs(), shares)
def test_only_texts_that_were_cut_have_pieces(messages: Conversation, share: float) -> None:
    # What is nothing but a mark shows nothing that could be cut.
    assume(all(said_in(text) for message in messages for text in texts_of(message) if text))
    result = explained(messages, share)
    cut = set(map(id, cut_entries(result)))
    assert all(id(entry) in cut for entry in result.decisions if entry.pieces)
    assert all(entry.pieces for entry in cut_entries(result) if entry.input_chars)


@quick
@given(runs(), shares)
def test_what_is_kept_is_shown(messages: Conversation, share: float) -> None:
    result = explained(messages, share)
    texts = [text for message in result.messages for text in texts_of(message)]
    for entry in cut_entries(result):
        for piece in entry.pieces:
            assert not piece.is_kept or any(piece.text.strip() in text for text in texts)


@quick
@given(runs(), shares)
def test_pieces_tile_their_texts(messages: Conversation, share: float) -> None:
    for entry in cut_entries(explained(messages, share)):
        for _, pieces in groupby(entry.pieces, lambda piece: piece.part):
            line = 1
            for piece in pieces:
                assert piece.text
                assert piece.reason
                assert piece.first_line == line
                line += piece.text.count("\n")
                assert piece.last_line == line - piece.text.endswith("\n")


def test_the_pieces_of_a_text_that_was_not_said_shorter_are_that_text() -> None:
    said = " ".join(f"Shelf {n} holds the jar {n * 37}." for n in range(80))
    messages = [TASK, {"role": "assistant", "content": said}, TASK]
    result = explained(messages, 0.3)
    assert "".join(piece.text for piece in pieces_of(result, 1)) == said
    assert sum(piece.tokens for piece in pieces_of(result, 1)) == words(said)


def test_errors_are_kept_as_errors() -> None:
    log = "\n".join(f"step {n} of the long build" for n in range(200))
    output = f"{log}\nError: the disk /dev/sda7 is full\n{log}"
    result = explained([TASK, *call(1, "run", {}, output), TASK], 0.1)
    found = [piece for piece in pieces_of(result, 2) if "disk" in piece.text]
    assert [(piece.is_kept, piece.reason) for piece in found] == [(True, "error")]


def test_a_value_that_is_kept_is_named() -> None:
    lines = [f"step {n % 7} of the long build goes on" for n in range(300)]
    lines[200] = "the ticket of this long build is QUEUE-4471 and goes on"
    result = explained([TASK, *call(1, "run", {}, "\n".join(lines)), TASK], 0.3)
    [found] = [piece for piece in pieces_of(result, 2) if "QUEUE" in piece.text]
    assert found.is_kept
    assert found.reason.startswith("value:QUEUE-4471")


def test_what_is_shown_in_another_place_is_said_elsewhere() -> None:
    code = source_code(1, 60)
    messages = [TASK, *call(1, "read_file", {"path": "a.py"}, code)]
    messages += [*call(2, "show", {"name": "a"}, code), TASK]
    result = explained(messages, 0.5)
    dropped = [
        piece.reason for index in (2, 4) for piece in pieces_of(result, index) if not piece.is_kept
    ]
    assert any(reason.startswith("said_elsewhere:") for reason in dropped)


def test_a_read_that_is_out_of_date_says_so() -> None:
    path = {"path": "src/queue.py"}
    messages = [TASK]
    for n in range(8):
        messages += call(n, "read_file", {"path": f"src/mod{n}.py"}, source_code(n))
    messages += call(8, "read_file", path, source_code(8))
    messages += [*call(9, "write_file", path, "wrote 40 lines"), TASK]
    dropped = [
        reasons(entry.pieces, is_kept=False)
        for entry in explained(messages, 0.5).decisions
        if entry.message_index % 2 == 0
    ]
    assert [index for index, why in enumerate(dropped) if "out_of_date" in why] == [9]


def test_what_the_budget_had_no_room_for_was_worth_less() -> None:
    messages = [TASK]
    for n in range(8):
        messages += call(n, "read_file", {"path": f"src/mod{n}.py"}, source_code(n))
    result = explained([*messages, TASK], 0.3)
    dropped = [p for entry in cut_entries(result) for p in entry.pieces if not p.is_kept]
    assert "worth_less" in reasons(dropped, is_kept=False)


def test_passed_tests_are_told_from_the_rest() -> None:
    output = check_log(400, "tests/test_q.py::test_full")
    result = explained([TASK, *call(1, "run_tests", {}, output), TASK], 0.3)
    pieces = pieces_of(result, 2)
    assert "failure" in reasons(pieces, is_kept=True)
    assert {"passed", "said_elsewhere"} & reasons(pieces, is_kept=False)


def test_a_talk_that_shows_one_stretch_says_so() -> None:
    said = "We went to the harbour to see the boats come home before the rain began again. "
    messages = [{"role": ("user", "assistant")[n % 2], "content": said * 8} for n in range(6)]
    result = explained(messages, 0.03)
    kept = [p for entry in result.decisions for p in entry.pieces if p.is_kept]
    assert {piece.reason for piece in kept} <= {"best_stretch", "whole"}


def test_heads_that_are_shown_for_what_is_below_them_say_so() -> None:
    diff = "\n".join(
        f"diff --git a/mod{n}.py b/mod{n}.py\n--- a/mod{n}.py\n+++ b/mod{n}.py\n@@ -1,9 +1,9 @@\n"
        + "\n".join(
            f"-    queue_{n}_{line}.pull()\n+    queue_{n}_{line}.push({n})" for line in range(9)
        )
        for n in range(9)
    )
    found = explained([TASK, *call(1, "git_diff", {}, diff), TASK], 0.3).decisions
    assert "heading" in set[str]().union(*(reasons(e.pieces, is_kept=True) for e in found))


@pytest.mark.parametrize("profile", ["classic", "lossless"])
def test_other_profiles_cut_nothing(profile: Any) -> None:
    result = compress([TASK, *call(1, "run", {}, "x " * 900), TASK], profile=profile, trace=True)
    assert all(entry.pieces == () for entry in result.decisions)


def test_a_result_with_pieces_is_data_like_any_other() -> None:
    messages = [TASK, *call(1, "read_file", {"path": "a.py"}, source_code(1, 200)), TASK]
    result = explained(messages, 0.3)
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert pieces_of(again, 2) == pieces_of(result, 2)
    data = result.compression.to_dict()
    json.dumps(data)
    assert all("account" not in entry and "pieces" not in entry for entry in data["decisions"])


def test_the_last_words_of_the_user_stay_for_what_they_are() -> None:
    results = [
        {"type": "tool_result", "tool_use_id": "t1", "content": source_code(1, 200)},
        {"type": "text", "text": "Now look at the queue once more, and tell me why it is so slow."},
    ]
    use = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.py"}}
    messages: Conversation = [TASK, {"role": "assistant", "content": [use]}]
    messages.append({"role": "user", "content": results})
    entries = [e for e in explained(messages, 0.3).decisions if e.message_index == 2]
    assert [entry.reason for entry in entries][1] == "last_user_message"
