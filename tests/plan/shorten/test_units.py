"""Sentences to choose from: each once, with what it is worth."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from refold.plan.shorten.prose import make_units
from refold.scan.sentences import find_sentences
from tests.conversations import texts
from tests.scan.scores import score_sentence

SAID = (
    *("The mill is old.", "The mill\nis old.", "The mill  is old", "Great, so be it.", "No."),
    *("Use getTide!", "It must go.", "是的。", "Größe: 5 MB.", "See e.g. Fig. 3.", "(a) b", "- x"),
    *("Ask Ana, who knows more than anybody else about the old mill", "word " * 20),
)
prose = st.lists(
    st.sampled_from((*SAID, " ", "  ", "\n", "\n\n", "\xa0", "\r\n")), max_size=30
).map("".join)


@settings(max_examples=100)
@given(st.one_of(prose, texts(), st.text(max_size=40)))
def test_units_are_the_sentences_each_once(text: str) -> None:
    first = {text[s.start : s.end]: s.paragraph for s in reversed(find_sentences(text))}
    said = list(reversed(first))
    units = make_units(text)
    assert sorted(units.texts) == sorted(" ".join(s.split()) if "\n" in s else s for s in said)
    assert units.paragraphs == sorted(first.values())
    assert sorted(units.scores) == sorted(map(score_sentence, said))


def test_many_sentences_are_told_apart() -> None:
    said = [f"The mill number {number // 2} is old." for number in range(400)]
    assert make_units(" ".join(said)).texts == list(dict.fromkeys(said))
