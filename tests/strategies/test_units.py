"""Sentences to choose from, and summaries: the scanner makes what plain Python makes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from refold.strategies.prose import (
    Units,
    make_units,
    summarize_at_once,
    summarize_groups,
    units_by_patterns,
)
from tests.conversations import texts
from tests.native import needs_scanner

SAID = (
    *("The mill is old.", "The mill\nis old.", "The mill  is old", "Great, so be it.", "No."),
    *("Use getTide!", "It must go.", "是的。", "Größe: 5 MB.", "See e.g. Fig. 3.", "(a) b", "- x"),
    *("Ask Ana, who knows more than anybody else about the old mill", "word " * 20),
)
prose = st.lists(
    st.sampled_from((*SAID, " ", "  ", "\n", "\n\n", "\xa0", "\r\n")), max_size=30
).map("".join)
thorough = settings(max_examples=400)


def columns(made: Units) -> tuple[list[str], list[int | float], list[int]]:
    return made.texts, list(made.scores), made.paragraphs


@needs_scanner
@thorough
@given(st.one_of(prose, texts(), st.text(max_size=40)))
def test_the_scanner_makes_the_same_units(text: str) -> None:
    assert columns(make_units(text)) == columns(units_by_patterns(text))


@needs_scanner
def test_many_sentences_are_told_apart() -> None:
    said = [f"The mill number {number // 2} is old." for number in range(400)]
    made = make_units(" ".join(said))
    assert made.texts == list(dict.fromkeys(said))


@needs_scanner
@thorough
@given(st.lists(st.one_of(prose, texts()), max_size=4), st.booleans(), st.integers(-20, 900))
def test_the_scanner_makes_the_same_summary(
    several: list[str], says_it_again: bool, budget: int
) -> None:
    several += several[:1] * says_it_again
    groups = [units_by_patterns(text) for text in several]
    assert summarize_at_once(tuple(several), budget) == summarize_groups(groups, budget)
