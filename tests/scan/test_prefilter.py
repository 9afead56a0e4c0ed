"""What a text must hold for a rule to be asked about it."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scan.prefilter import Needs, make_test, words_of
from refold.scan.view import TextView

SHAPES = ("://", "```|~~~", r"\n {4}|\n\t", "[a-c9_-]{8}", '["“«]', "[∀∃]x?é", r"\$")
WORDS = words_of("thus key the a hereby")
TEXTS = st.text(
    st.sampled_from('://`~\n\t .0159abcx-_"“«∀∃é$\u00a0THUSkey漢😀'), max_size=60
) | st.lists(st.sampled_from(["thus", "Key", "THE", " ", "keys", "_", "4", "é"])).map("".join)


@settings(max_examples=100)
@given(TEXTS)
def test_shapes_and_words_are_seen_where_they_are(text: str) -> None:
    view = TextView(text)
    for shapes in SHAPES:
        assert make_test(Needs(shapes=shapes))(view) == bool(re.search(shapes, text))
    letters = {word.encode().lower() for word in re.findall("[A-Za-z]+", text)}
    has_words = bool(letters & WORDS)
    assert make_test(Needs(words=WORDS))(view) == has_words
    assert make_test(Needs(shapes="://", words=WORDS))(view) == (has_words or "://" in text)
    assert make_test(Needs())(view)
