"""Names found in one loop: the same as word by word, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from refold.text.name_loop import LoopNames
from refold.text.name_words import WordNames
from tests.text.named_texts import PIECES, named_texts

LOOP = LoopNames()


def in_words(text: str) -> list[list[str]]:
    return WordNames().read(text)


@settings(max_examples=500, deadline=None)
@given(named_texts())
def test_the_loop_finds_the_same_names(text: str) -> None:
    assert LOOP.read(text) == in_words(text)


@pytest.mark.parametrize("first", PIECES)
def test_the_loop_finds_the_same_names_in_every_two_pieces(first: str) -> None:
    for second in PIECES:
        text = first + second
        assert LOOP.read(text) == in_words(text), text


def test_every_character_is_read_as_the_patterns_read_it() -> None:
    for code in (
        *range(0x600),
        *range(0x2000, 0x2200),
        *range(0x3000, 0x3110),
        *range(0xFF00, 0x10000),
    ):
        char = chr(code)
        text = (
            f"a{char}B Xy{char}z Ab{char} {char}b 5{char} x.a{char} {char}5 ms m{char}mm 5 m{char}"
        )
        assert LOOP.read(text) == in_words(text), text
