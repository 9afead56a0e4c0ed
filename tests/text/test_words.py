"""Words: whatever is left out says nothing, and the rest comes in order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.text.entities import NameFinder
from refold.text.scan import Vocabulary
from refold.text.words import loop_words, telling_words
from tests.conversations import texts

NONE = Vocabulary(frozenset())
SOME = Vocabulary(frozenset((b"must", b"note")))

quick = settings(max_examples=200, deadline=None)
anything = st.one_of(
    texts(),
    st.text(max_size=60),
    st.text(st.sampled_from("aeBxT3_-.'/(\"? \n\xa0é"), max_size=60),
)


@pytest.mark.parametrize(
    "word",
    [
        "a",
        "river",
        "River",
        "(river",
        "river,",
        '"river."',
        "I",
        "of",
        "string;",
        "(*done*)",
        "...",
    ],
)
def test_plain_words_are_left_out(word: str) -> None:
    assert loop_words(f"{word} {word}", NONE) == []


@pytest.mark.parametrize(
    "word",
    [
        *(
            "getTide",
            "TideBox",
            "tide_box",
            "npm",
            "NPM",
            "x1",
            "5%",
            "a.py",
            "src/x",
            "well-known",
        ),
        *("don't", "`code`", "a(b", "Warning:", "#3", "naïve", "vE", "1,200", "a.b", "TTT."),
    ],
)
def test_odd_words_are_not(word: str) -> None:
    assert loop_words(f"the {word} and\n{word}", NONE) == [word, word]


@pytest.mark.parametrize("word", ["must", "Must", '"note', "(must)", "MUST,"])
def test_words_asked_for_are_not(word: str) -> None:
    assert loop_words(f"it {word} be", SOME) == [word]


@quick
@given(anything)
def test_the_loop_gives_some_of_all_words_in_order(text: str) -> None:
    rest = iter(text.split())
    assert all(word in rest for word in loop_words(text, SOME))
    assert telling_words(text, SOME) in (text.split(), loop_words(text, SOME))


@quick
@given(anything)
def test_what_is_left_out_has_no_name_in_it(text: str) -> None:
    kept = set(loop_words(text, NONE))
    for word in set(text.split()) - kept:
        names = NameFinder().find(word)
        assert all(name.istitle() for name in names), (
            word
        )  # a capital alone is looked for elsewhere
