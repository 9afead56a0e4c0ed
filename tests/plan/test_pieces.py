"""Pieces tile the text; short neighbours of the same worth share one."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refold import compress
from refold.kinds import kind_of
from refold.plan.pieces import cut_text
from tests.conversations import texts
from tests.pieces import listed, pieces_of
from tests.plan.runs import call, check_log


@given(texts(), st.booleans())
def test_pieces_tile_the_text(text: str, talk: bool) -> None:
    pieces = listed(cut_text(text, kind_of(text), talk=talk, glue=140))
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text
    assert all(piece.start < piece.end for piece in pieces)


@given(texts())
@example("step 1 ok\nERROR: disk full\n=== 4 passed in 0.10s ===\nwarning: old lock\nstep 2 ok")
@example(check_log(4, "tests/test_q.py::test_pull") + "\n====== 4 passed in 0.10s ======")
def test_only_neighbours_of_the_same_worth_are_joined(text: str) -> None:
    kind = kind_of(text)
    small = pieces_of(text, kind)
    for piece in listed(cut_text(text, kind, talk=False, glue=140)):
        inside = [one for one in small if piece.start <= one.start < piece.end]
        assert {(one.weight, one.must) for one in inside} == {(piece.weight, piece.must)}
        assert len(inside) == 1 or piece.end - piece.start <= 140


def clauses(said: str) -> list[str]:
    pieces = listed(cut_text(said, "prose", talk=True, glue=140))
    return [said[piece.start : piece.end] for piece in pieces]


def test_talk_is_cut_into_clauses() -> None:
    said = "We meet at the harbour on Monday, but if it rains we stay at home; bring the old maps."
    shown = clauses(said)
    assert shown == [
        "We meet at the harbour on Monday, ",
        "but if it rains we stay at home; ",
        "bring the old maps.",
    ]


def test_a_number_is_not_cut_in_two() -> None:
    said = (
        "It was rated four and a half, 4.5 of 5, the price is 1,250 and they open at 10:30 sharp."
    )
    shown = clauses(said)
    assert "".join(shown) == said
    for number in ("4.5", "1,250", "10:30"):
        assert any(number in one for one in shown)


def test_where_a_character_says_as_much_as_a_syllable_clauses_are_shorter() -> None:
    said = "推荐您去海边的老酒店，价格是四百二十元。周边的餐馆有三家，都很好吃。"
    shown = clauses(said)
    assert "".join(shown) == said
    assert len(shown) == 2
    assert max(map(len, shown)) < 30


def test_a_failure_is_a_piece_of_its_own() -> None:
    text = check_log(50, "tests/test_q.py::test_pull")
    musts = [p for p in listed(cut_text(text, kind_of(text), talk=False, glue=140)) if p.must]
    assert ["tests/test_q.py::test_pull FAILED" in text[p.start : p.end] for p in musts] == [True]
    assert "PASSED" not in text[musts[0].start : musts[0].end]


def test_a_long_row_of_commas_takes_linear_time() -> None:
    """With a step that is quadratic this would take minutes."""
    for unit in (",", "a,", " ", "a ", "。", "\n", "1.", ".1,", "店，"):
        text = unit * (400_000 // len(unit))
        assert cut_text(text, "prose", talk=True, glue=140).ends[-1] == len(text)


def test_calls_are_cut_into_lines_below_the_one_that_names_the_tool() -> None:
    text = "edit path=a.py\nold:\nx = 1\nread path=b.py"
    pieces = listed(cut_text(text, "", talk=False, glue=300, heads=[(0, True), (26, False)]))
    assert [text[p.start : p.end] for p in pieces] == [
        "edit path=a.py\n",
        "old:\nx = 1\n",
        "read path=b.py",
    ]


def reservation(number: int) -> str:
    flights = [
        {"flight": f"HAT{number}{n:02}", "from": "EWR", "to": "CLT", "price": 163 + number * n}
        for n in range(4)
    ]
    return json.dumps(
        {
            "reservation_id": f"NM1V{number}",
            "flights": flights,
            "passengers": [{"first_name": "Omar", "last_name": "Rossi", "dob": "1970-06-06"}],
            "payment": "gift_card_3481935",
            "cabin": "business",
        }
    )


@pytest.mark.parametrize("budget", range(200, 1_000, 10))
def test_names_of_columns_are_shown_with_a_row_below_them(budget: int) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Downgrade my flights. How much money do I save?"},
        *(wire for n in range(2, 9) for wire in call(n, "get_reservation", {}, reservation(n))),
    ]
    folded = compress(messages, token_budget=budget, model="gpt-4o")
    for text in (message["content"] or "" for message in folded.messages):
        for said in re.split(r"\n(?=\w+: )", text):  # a digest has those of several results
            assert ("rows of" in said) == bool(re.search(r"HAT\d+\|", said))
