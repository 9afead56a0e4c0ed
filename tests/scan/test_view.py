"""The forms of a text fit each other, character by character."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.scan.plain_bytes import plain_bytes
from refold.scan.view import Notes, TextView
from tests.conversations import texts

anything = st.one_of(
    texts(), st.text(), st.text(st.sampled_from("aKk\u212a\u0130\u0131\u017féÉ\n"))
)


@given(anything)
def test_every_form_has_the_same_places(text: str) -> None:
    view = TextView(text)
    assert len(view.lower) == len(view.plain) == len(view.plain_lower) == len(view.outline)
    assert len(text) == len(view.lower)
    assert "\n".join(view.lines) == text


@given(anything)
def test_lower_bytes_are_those_of_the_lower_text(text: str) -> None:
    view = TextView(text)
    assert view.plain_lower == plain_bytes(view.lower)


def test_notes_keep_no_words_that_nobody_asks_for() -> None:
    notes = Notes(declared=frozenset((b"two", b"four")))
    assert TextView("One, two, three.", notes).words == {b"two"}


def test_notes_are_shared_by_those_who_are_given_them() -> None:
    notes = Notes(1, lambda bits: frozenset((b"one",) * bits))
    assert TextView("two", notes).words == TextView("three", notes).words == {b"one"}
    assert TextView("two").words == {b"two"}


@given(anything)
def test_all_words_of_ascii_letters_are_seen(text: str) -> None:
    words = {word.encode().lower() for word in re.findall("[A-Za-z]+", text)}
    assert TextView(text).words >= words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Thus it was.", {b"thus", b"it", b"was"}),
        ("THUS,my_key9", {b"thus", b"my", b"key"}),
        ("na\u00efve", {b"na", b"ve"}),
        ("", set()),
        # Letters that only look foreign rule nothing out.
        ("THU\u017f", {b"thu", b"thus"}),
        ("\u212aey", {b"ey", b"key"}),
    ],
)
def test_words_go_from_one_non_letter_to_the_next(text: str, words: set[bytes]) -> None:
    assert TextView(text).words == words
