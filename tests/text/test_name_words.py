"""Names found word by word: shapes stand for words, and not everything is remembered."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.text.name_words import WordNames
from tests.text.named_texts import named_texts


@settings(max_examples=300)
@given(st.lists(named_texts(), max_size=4))
def test_what_was_read_before_changes_nothing(several: list[str]) -> None:
    names = WordNames()
    for text in several:
        assert names.find(text) == WordNames().find(text)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("5ms", "5xs", ()),
        ("5xs", "5ms", ("5ms",)),
        ("v1.2", "w1.2", ()),
        ("1.2", "3.4", ("3.4",)),
        ("src/a.py", "lib/b.ts", ("lib/b.ts",)),
        ("npm", "xyz", ()),
        ("npm", "lbs", ("lbs",)),
    ],
)
def test_words_like_an_earlier_one(first: str, second: str, expected: tuple[str, ...]) -> None:
    names = WordNames()
    names.find(first)
    assert names.find(second) == expected


def test_a_row_of_capitalized_words_is_one_name_or_none() -> None:
    assert WordNames().find("Aa " * 3 + "Ab") == ("Aa Aa Aa Ab",)
    assert WordNames().find("Aa " * 100_000 + "AbC") == ("AbC",)  # each part tried: for ever


def test_not_everything_is_remembered() -> None:
    names = WordNames()
    for start in range(0, 120_000, 20_000):
        text = " ".join(f"item_{n}" for n in range(start, start + 20_000))
        assert len(names.find(text)) == 20_000
    assert len(names._known) < 80_000
    names.find("x" * 1_000)
    assert "x" * 1_000 not in names._known
