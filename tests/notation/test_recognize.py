"""Whatever refold writes is recognized, and what it shows is read back without its marks."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.notation.marks import digest, excerpt
from refold.notation.recognize import (
    IMITATION,
    count_messages,
    find_handles,
    has_tag,
    read_summary,
    unmarked,
)
from refold.notation.spelling import PLAIN, Summary
from tests.notation import examples

BODY = "The billing service keeps its own copy of the rates for 30 days."
HANDLE = "kdbfqamt"
ANCHOR = "kdbfqamtqxzjvkabcdefghijklmn"
MARKED = [
    *examples.plain_marks(BODY, HANDLE),
    *examples.tool_notes(BODY, HANDLE)[:-1],
    *examples.classic_tags(BODY, HANDLE),
]


@pytest.mark.parametrize("text", MARKED)
def test_every_form_is_recognized_wherever_it_stands(text: str) -> None:
    assert has_tag(text)
    assert has_tag(f"Before it.\n{text}\nAnd behind it.")
    assert has_tag(json.dumps({"content": [{"text": text}]}, ensure_ascii=False))
    assert IMITATION.search(text)


@pytest.mark.parametrize(
    "text", examples.plain_marks(BODY, HANDLE) + examples.tool_notes(BODY, HANDLE)
)
def test_what_is_shown_is_read_back_without_marks(text: str) -> None:
    shown = unmarked(text)
    if BODY in text and "[kept:" not in text:
        assert shown.startswith(BODY)
        assert HANDLE not in shown
    assert unmarked(shown) == shown


@pytest.mark.parametrize(
    "text", examples.plain_marks(BODY, ANCHOR) + examples.classic_tags(BODY, ANCHOR)
)
def test_a_handle_is_found_in_marks_and_tags(text: str) -> None:
    assert find_handles(text) == ([ANCHOR] if ANCHOR in text else [])


@given(st.integers(1, 10**6))
def test_a_digest_says_for_how_many_it_stands(messages: int) -> None:
    assert count_messages(digest(BODY, messages, HANDLE)) == messages
    assert not count_messages(excerpt(BODY, HANDLE))


def test_a_summary_is_read_back_with_what_it_names() -> None:
    said = read_summary(PLAIN.summary(Summary(BODY, 3, ("billing", "30 days")), HANDLE))
    assert said == (BODY, 3, ("billing", "30 days"))
    assert read_summary(PLAIN.summary(Summary(BODY), HANDLE)) == (BODY, 1, ())


@given(st.text(alphabet="[]#…% \nabc12shown,messagrt:", max_size=200))
def test_any_text_can_be_asked(text: str) -> None:
    shown = unmarked(text)
    assert shown == text or len(shown) < len(text)


def test_gaps_on_lines_of_their_own_are_not_read_back() -> None:
    text = excerpt("one\n… 37 lines …\ntwo …\n…\nthree", HANDLE)
    assert unmarked(text) == "one\ntwo …\nthree"
    for mark in examples.gap_marks()[2:-1]:
        assert re.fullmatch(r"… .* …", mark)
        assert unmarked(excerpt(f"one\n{mark}\ntwo", HANDLE)) == "one\ntwo"
