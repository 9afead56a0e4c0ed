"""Sentences to choose from, and the choice: the scanner makes what plain Python makes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scoring.sentence import SentenceScorer
from refold.strategies.prose import (
    Units,
    make_units,
    pack_by_rank,
    pack_units,
    units_by_words,
)
from tests.conversations import texts
from tests.native import needs_scanner, the_scanner

SAID = (
    *("The mill is old.", "The mill\nis old.", "The mill  is old", "Great, so be it.", "No."),
    *("Use getTide!", "It must go.", "是的。", "Größe: 5 MB.", "See e.g. Fig. 3.", "(a) b", "- x"),
    *("Ask Ana, who knows more than anybody else about the old mill", "word " * 20),
)
prose = st.lists(
    st.sampled_from((*SAID, " ", "  ", "\n", "\n\n", "\xa0", "\r\n")), max_size=30
).map("".join)
thorough = settings(max_examples=400, deadline=None)


@st.composite
def units(draw: st.DrawFn) -> Units:
    """Units as they come, of one text or of several, scored here or elsewhere."""
    scores = st.one_of(st.integers(-10, 9), st.floats(-10, 9), st.integers(-1, 1))
    rows = draw(st.lists(st.tuples(st.sampled_from((*SAID, "é", "e")), scores, st.booleans())))
    paragraphs = [sum(is_next for _, _, is_next in rows[: place + 1]) for place in range(len(rows))]
    return Units([said for said, _, _ in rows], [score for _, score, _ in rows], paragraphs)


def columns(made: Units) -> tuple[list[str], list[int | float], list[int]]:
    return made.texts, list(made.scores), made.paragraphs


@needs_scanner
@thorough
@given(st.one_of(prose, texts(), st.text(max_size=40)))
def test_the_scanner_makes_the_same_units(text: str) -> None:
    assert columns(make_units(text)) == columns(units_by_words(text, SentenceScorer()))


@needs_scanner
def test_many_sentences_are_told_apart() -> None:
    said = [f"The mill number {number // 2} is old." for number in range(400)]
    made = make_units(" ".join(said))
    assert made.texts == list(dict.fromkeys(said))


@needs_scanner
@thorough
@given(units(), st.integers(-20, 600), st.data())
def test_the_scanner_makes_the_same_choice(made: Units, budget: int, data: st.DataObject) -> None:
    places = st.lists(st.sampled_from(range(len(made))), unique=True, max_size=3)
    first = data.draw(places) if len(made) else []
    assert pack_units(made, budget, first) == pack_by_rank(made, budget, first)


@needs_scanner
def test_the_scanner_chooses_only_what_is_there() -> None:
    said = (["Calm.", "Warm."], [1, 2], [0, 0])
    with pytest.raises(IndexError):
        the_scanner().pack(said, 20, 5, [2])
    with pytest.raises(TypeError):
        the_scanner().pack((["Calm."], [1, 2], [0, 0]), 20, 5, [])
