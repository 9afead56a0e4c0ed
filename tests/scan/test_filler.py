"""Filler: how it opens, and what makes a sentence more than that."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scan import sentence_score as scoring
from refold.scan.sentence_score import FILLER_HEADS, is_filler

FILLERS = ("ok", "So", "Hi", "\u017fure", "SO", "i'll", "I can", "o\u212a", "h\u0131", "Good day")
NEGATIONS = (
    *("no", "Not", "never", "NONE", "Nothing", "nobody", "neither", "nor", "cannot", "WITHOUT"),
    *("can't", "CAN’T", "noth\u0131ng", "NE\u0130THER", "w\u0131thout"),
)
OTHERS = (
    "thanks",
    "the",
    "now",
    "noon",
    "n't",
    "nothi\u0307ng",
    ",",
    ".",
    " ",
    "\n",
    "\xa0",
    "é",
    "漢",
)
PIECES = st.sampled_from((*FILLERS, *NEGATIONS, *OTHERS))
sentences = st.one_of(st.lists(PIECES, max_size=6).map("".join), st.text(max_size=8))


@pytest.mark.parametrize("sentence", ["Sure.", "ok, it is", "THANK YOU!", "I'll look", "Hi\xa0all"])
def test_filler(sentence: str) -> None:
    assert is_filler(sentence, 0, len(sentence))
    assert sentence[:3] in FILLER_HEADS


@pytest.mark.parametrize(
    "sentence", ["Surely it is", "ok", "So it is not", "Now we can't", "Well, without it", "", "x"]
)
def test_no_filler(sentence: str) -> None:
    assert not is_filler(sentence, 0, len(sentence))


OPENING = re.compile(rf"(?:{'|'.join(scoring.FILLERS)})(?=[,.!?\s])", re.I)
NEGATION = re.compile(
    r"(?<!\w)(?:not|no|never|none|nothing|nobody|neither|nor|cannot|without|\w+n['’]t)(?!\w)", re.I
)


@settings(max_examples=100)
@given(sentences)
def test_what_is_ruled_out_early_would_not_have_matched(sentence: str) -> None:
    opens = OPENING.match(sentence) is not None
    assert not opens or sentence[:3] in FILLER_HEADS
    assert is_filler(sentence, 0, len(sentence)) == (opens and not NEGATION.search(sentence))


@pytest.mark.parametrize("negation", NEGATIONS)
def test_a_negation_makes_it_more_than_filler(negation: str) -> None:
    for said in (f"Sure, {negation}", f"Sure, {negation}.", f"So we {negation} go"):
        assert not is_filler(said, 0, len(said))
    said = f"Sure, x{negation}x"
    assert is_filler(said, 0, len(said))


@settings(max_examples=100)
@given(sentences)
def test_negations(sentence: str) -> None:
    said = f"Sure, {sentence}"
    assert is_filler(said, 0, len(said)) == (NEGATION.search(said) is None)
