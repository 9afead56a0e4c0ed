"""What a text may hold: the scanner and plain Python derive the same from what is declared."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scan.prefilter import Needs, Prefilter, make_test, read_shapes, words_of
from refold.scan.view import TextView
from tests.native import needs_scanner, the_scanner

SHAPES = (
    "://",
    "```|~~~",
    r"\n {4}|\n\t",
    r"[0-9]\.[0-9]",
    "[a-c9_-]{8}",
    "[0-9]{3}[-. \u00a0]?[0-9]{2}",
    '["“«]',
    "[∀∃]x?é",
    r"\[\]",
    "a?b?c",
)
WORDS = words_of("thus key the a hereby")
TEXTS = st.text(
    st.sampled_from('://`~\n\t .0159abcx-_"“«∀∃é[]\u00a0THUSkey漢😀'), max_size=60
) | st.lists(st.sampled_from(["thus", "Key", "THE", " ", "keys", "_", "4", "é"])).map("".join)


@pytest.mark.parametrize("shapes", SHAPES)
def test_every_spelling_of_a_shape_matches_it(shapes: str) -> None:
    for path in read_shapes(shapes):
        assert re.fullmatch(shapes, "".join(min(chars) for chars in path))
        assert re.fullmatch(shapes, "".join(max(chars) for chars in path))


@pytest.mark.parametrize("shapes", ["a|", "a?", "(ab)", "a*", "a+", ".", r"\d", "[^a]]", "a{2,3}"])
def test_what_is_no_shape_is_refused(shapes: str) -> None:
    with pytest.raises(ValueError, match="shape"):
        Needs(shapes=shapes)


@pytest.mark.parametrize("word", [b"Thus", b"", b"two words", "é".encode()])
def test_what_is_no_word_is_refused(word: bytes) -> None:
    with pytest.raises(ValueError, match="word"):
        Needs(words=frozenset((word,)))


@settings(max_examples=100)
@given(TEXTS)
def test_plain_python_tells_what_is_there(text: str) -> None:
    view = TextView(text)
    for shapes in SHAPES:
        assert make_test(Needs(shapes=shapes))(view) == bool(re.search(shapes, text))
    letters = {word.encode().lower() for word in re.findall("[A-Za-z]+", text)}
    assert make_test(Needs(words=WORDS))(view) == bool(letters & WORDS)
    assert make_test(Needs())(view)


@needs_scanner
@settings(max_examples=100)
@given(TEXTS)
def test_the_scanner_tells_the_same(text: str) -> None:
    needs = [*(Needs(shapes=shapes) for shapes in SHAPES), Needs(words=WORDS), Needs()]
    prefilter = Prefilter(needs, the_scanner())
    bits = prefilter.scan(text)
    for need in needs:
        assert bool(bits & prefilter.mask(need)) == make_test(need)(TextView(text)), need
    assert prefilter.words_in(bits) == TextView(text).words & WORDS


@needs_scanner
def test_letters_that_only_look_foreign_rule_nothing_out() -> None:
    needs = [Needs(words=words_of("shall")), Needs(shapes="[0-9]")]
    prefilter = Prefilter(needs, the_scanner())
    assert all(prefilter.scan("\u017fhall") & prefilter.mask(need) for need in needs)


@needs_scanner
def test_many_shapes_and_words_take_more_lanes_and_slots() -> None:
    words = [f"{a}{b}x" for a in "abcdefghij" for b in "abcdefghijklmnop"]
    needs = [Needs(words=words_of(word)) for word in words]
    needs += [Needs(shapes=f"{word}[0-9]{{40}}") for word in words[:20]]
    prefilter = Prefilter(needs, the_scanner())
    for number in (0, 70, 159):
        bits = prefilter.scan(f"so {words[number]}.")
        assert [n for n, need in enumerate(needs) if bits & prefilter.mask(need)] == [number]
    bits = prefilter.scan(words[3] + "7" * 40)
    assert bits & prefilter.mask(needs[163])
    assert not bits & prefilter.mask(needs[164])


@needs_scanner
@pytest.mark.parametrize("place", range(4))
def test_what_is_no_table_is_refused(place: int) -> None:
    arguments: list[object] = [bytes(0x10000), bytes(8 * 257), bytes(16 * 256), 3]
    arguments[place] = (b"", b"short", bytes(16 * 3), 256)[place]
    with pytest.raises(TypeError):
        the_scanner().prefilter("text", *arguments)  # type: ignore[arg-type]
