"""The forms of a text fit each other, character by character."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.scan.view import TextView, encodable, outline, plain_bytes, undisguised
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


def test_letters_that_count_as_ascii_are_written_as_such() -> None:
    letters = re.compile("[a-z]", re.IGNORECASE)
    beyond = "".join(map(chr, range(128, 0x3000)))
    for char in letters.findall(beyond):
        assert re.fullmatch(undisguised(char), char, re.IGNORECASE)
    assert undisguised(letters.sub("", beyond)) == letters.sub("", beyond)


def test_an_outline_shows_numbers_and_measures() -> None:
    assert outline(b"V12 in 3.4\tGHz") == b"v00 iu 0.0 uuz"


def test_lone_surrogates_are_replaced() -> None:
    assert encodable("a\ud800é") == "a?é"
