"""What is chosen of a text is shown as it stands; what is left out is marked, with how much."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.plan.pieces import join_spans
from refold.scan.runs import Span

Draw = Callable[[st.SearchStrategy[Any]], Any]
LINES = [f"line {n} says {n * 11}\n" for n in range(400)]
TEXT = "".join(LINES)


@st.composite
def spans_in(draw: Draw, text: str) -> list[Span]:
    """Some stretches of *text*, in order, none empty, none overlapping."""
    borders = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    return list(zip(borders[::2], borders[1::2], strict=False))


def lines_from(first: int, last: int) -> Span:
    """The place of some lines of `TEXT`."""
    start = sum(map(len, LINES[:first]))
    return start, start + sum(map(len, LINES[first:last]))


@given(spans_in(TEXT))
def test_spans_are_shown_as_they_stand_with_marks_between(spans: list[Span]) -> None:
    shown = join_spans(TEXT, spans)
    place = 0
    for start, stop in spans:
        found = shown.find(TEXT[start:stop].rstrip(), place)
        assert found >= place
        place = found
    gaps = sum(a[1] < b[0] for a, b in pairwise(spans))
    ends_in_words = bool(spans) and bool(TEXT[slice(*spans[-1])].strip())
    counted = len(re.findall(r"(?m)^… .* …$", shown))  # these have a mark on either side
    assert shown.count("…") - counted == gaps + (shown.endswith("…") and ends_in_words)
    assert shown == shown.rstrip()


@given(st.sets(st.integers(0, 399), max_size=12))
def test_in_its_place_a_text_counts_every_gap_of_six_lines(numbers: set[int]) -> None:
    shown = join_spans(TEXT, [lines_from(n, n + 1) for n in sorted(numbers)], in_place=True)
    marks = re.findall(r"(?m)^… (?:(\d\d?)|\w+ hundred) lines …$", shown)
    gaps = [b - a - 1 for a, b in pairwise([-1, *sorted(numbers), 400]) if b - a > 6]
    if numbers:
        assert [int(mark) for mark in marks if mark] == [gap for gap in gaps if gap < 100]
        assert len(marks) == len(gaps)


def test_a_small_gap_is_marked_at_the_end_of_the_line_above() -> None:
    assert join_spans("one two three", [(0, 4), (8, 13)]) == "one …\nthree"
    assert join_spans("one\ntwo\nthree", [(0, 4), (8, 13)]) == "one …\nthree"
    assert (
        join_spans("船九点开。\n人很多。\n票卖完。", [(0, 6), (11, 15)]) == "船九点开。…\n票卖完。"
    )
    assert join_spans("one two", [(0, 4), (4, 7)]) == "one two"
    assert join_spans("one two", [(4, 7)]) == "two"
    assert join_spans("one two", []) == ""


def test_a_gap_of_many_lines_says_how_many() -> None:
    top, end = lines_from(0, 1), lines_from(399, 400)
    assert (
        join_spans(TEXT, [top, lines_from(42, 43)])
        == f"{LINES[0]}… 41 lines …\n{LINES[42]}".rstrip()
    )
    far = f"{LINES[0]}… four hundred lines …\n{LINES[399]}"
    assert join_spans(TEXT, [top, end]) == far.rstrip()


def test_a_gap_in_long_lines_says_how_many_words_or_characters() -> None:
    prose = "one " + "more word " * 1_200 + "last"
    assert join_spans(prose, [(0, 4), (12_004, 12_008)]) == "one\n… 24 hundred words …\nlast"
    dense = "船" + "票" * 30_000 + "人"
    assert join_spans(dense, [(0, 1), (30_001, 30_002)]) == "船\n… 30 thousand characters …\n人"


def test_only_in_its_place_a_text_counts_what_is_missing_at_its_ends() -> None:
    middle = [lines_from(20, 21)]
    assert join_spans(TEXT, middle) == LINES[20].rstrip()
    assert (
        join_spans(TEXT, middle, in_place=True)
        == f"… 20 lines …\n{LINES[20]}… four hundred lines …"
    )
    near = [lines_from(2, 398)]
    assert join_spans(TEXT, near, in_place=True) == "".join(LINES[2:398]).rstrip()


def test_what_was_said_more_than_once_says_how_often() -> None:
    spans = [lines_from(0, 1), lines_from(1, 2)]
    shown = join_spans(TEXT, spans, {spans[0][1]: 41})
    assert shown == f"{LINES[0].rstrip()} ×41\n{LINES[1].rstrip()}"


@pytest.mark.parametrize(
    ("text", "end", "shown"),
    [
        ("the ferry leaves at nine", 9, "the ferry…"),
        ("the ferry leaves at nine", 10, "the ferry …"),
        ("the ferry leaves, at nine", 17, "the ferry leaves,"),
        ("the ferry\nleaves at nine", 9, "the ferry"),
        ("渡轮九点开。", 3, "渡轮九…"),
        ("渡轮九点开。然后", 6, "渡轮九点开。"),
        ("the ferry", 9, "the ferry"),
    ],
)
def test_a_phrase_that_goes_on_says_so(text: str, end: int, shown: str) -> None:
    assert join_spans(text, [(0, end)]) == shown
