"""Passages: whole sentences, headings and items, and what each cannot be without."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.scan.passages import closers, read_passages, stands_for_another


def said(text: str) -> list[str]:
    return [passage.text for passage in read_passages(text)]


@pytest.mark.parametrize(
    "whole",
    [
        'He wrote "it is late. Go home." to us.',
        "See the list (it is long. Very long.) below.",
        "Call `a. b. c` twice.",
        "<b>Wait. Then go.</b> and rest.",
        "他说“今天不行。明天再来。”然后走了。",
    ],
)
def test_what_is_opened_is_not_cut_before_it_is_closed(whole: str) -> None:
    first = said(f"{whole} The end is near.")[0]
    assert not closers(first)
    assert len(first) >= len(whole) * 2 // 3


def test_what_is_never_closed_was_not_opened() -> None:
    assert said('A 5" disk. It spins. It hums. It stops. The end.')[0] == 'A 5" disk.'


def test_an_item_is_its_whole_line() -> None:
    passages = read_passages("Options:\n- Fly. It is fast.\n- Walk. It is slow.\n\nDone.")
    assert [p.text for p in passages if p.is_item] == ["- Fly. It is fast.", "- Walk. It is slow."]


def test_items_and_first_sentences_need_their_heading() -> None:
    passages = read_passages("In `x.py`:\nThe loop is wrong.\n\nOptions:\n- one\n- two\n\nBye now.")
    by_text = {passage.text: passage for passage in passages}
    assert passages[by_text["The loop is wrong."].needs].text == "In `x.py`:"
    assert passages[by_text["- two"].needs].text == "Options:"
    assert by_text["Bye now."].needs == -1


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("It failed because of that.", True),
        ("Deshalb geht es nicht.", True),
        ("所以不行。", True),
        ("It failed at 14:20.", True),
        ("And they changed `parse` for it.", True),
        ("It is possible to fold 400 messages.", False),
        ("The import failed.", False),
        ("They agreed that the billing service keeps a copy of its own for a year.", False),
    ],
)
def test_a_sentence_that_stands_for_another(sentence: str, expected: bool) -> None:
    assert stands_for_another(sentence) is expected


def test_lines_of_tags_and_rules_are_markup() -> None:
    text = "<pr_description>\nThe parser fails.\n</pr_description>\n---\n"
    assert [p.text for p in read_passages(text) if not p.is_markup] == ["The parser fails."]


@given(st.text(st.sampled_from('ab. \n-*#:()"`<>/1。“”「」'), max_size=60))
def test_passages_hold_all_letters_in_order(text: str) -> None:
    letters = "".join(c for c in text if not c.isspace())
    assert "".join("".join(said(text)).split()) == letters
    for place, passage in enumerate(read_passages(text)):
        assert -1 <= passage.needs < place
