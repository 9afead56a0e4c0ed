"""Reading a text as bytes."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scan.plain_bytes import (
    outline,
    pair_codes,
    plain_bytes,
    sum_bytes,
    sum_pairs,
    undisguised,
)
from tests.conversations import texts

quick = settings(max_examples=100)
anything = st.one_of(
    texts(),
    st.text(max_size=60),
    st.text(st.sampled_from("thus THUS,key_-+/9 \n\té’İſ?"), max_size=80),
)


@quick
@given(anything)
def test_every_character_is_one_byte(text: str) -> None:
    plain = plain_bytes(text)
    assert len(plain) == len(text)
    for char, byte in zip(text, plain, strict=True):
        assert chr(byte) == (char if char.isascii() else "?")


def test_letters_that_count_as_ascii_are_written_as_such() -> None:
    letters = re.compile("[a-z]", re.IGNORECASE)
    beyond = "".join(map(chr, range(128, 0x3000)))
    for char in letters.findall(beyond):
        assert re.fullmatch(undisguised(char), char, re.IGNORECASE)
    assert undisguised(letters.sub("", beyond)) == letters.sub("", beyond)


def test_an_outline_shows_numbers_and_measures() -> None:
    assert outline(b"V12 in 3.4\tGHz") == b"v00 iu 0.0 uuz"


CLASSES = bytes(1 + byte % 15 for byte in range(256))
WEIGHTS = bytes(pair * 7 % 256 for pair in range(256))


@quick
@given(st.binary(max_size=300), st.integers(1, 15))
def test_all_pairs_are_summed(data: bytes, first: int) -> None:
    numbers = [first, *(CLASSES[byte] for byte in data)]
    expected = sum(WEIGHTS[16 * a + b] for a, b in pairwise(numbers))
    weights = bytes(0 if pair % 16 == 0 else weight for pair, weight in enumerate(WEIGHTS))
    assert sum_pairs(data, CLASSES, weights, first) == expected


def test_codes_of_pairs() -> None:
    assert pair_codes(bytes([1, 2, 15]), 3)[:3] == bytes([0x31, 0x12, 0x2F])


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 5_000, 70_000])
def test_bytes_are_added_up_whatever_they_are(size: int) -> None:
    assert sum_bytes(bytes([255]) * size) == 255 * size
    assert sum_bytes(bytes(n % 256 for n in range(size))) == sum(n % 256 for n in range(size))
