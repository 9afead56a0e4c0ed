"""Names found word by word: shapes stand for words, and not everything is remembered."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.text.name_patterns import PATH_KIND, QUANTITY_KIND, SHORT_KIND, VERSION_KIND
from refold.text.name_words import WordNames
from tests.text.named_texts import named_texts


@settings(max_examples=300, deadline=None)
@given(st.lists(named_texts(), max_size=4))
def test_what_was_read_before_changes_nothing(several: list[str]) -> None:
    names = WordNames()
    for text in several:
        assert names.read(text) == WordNames().read(text)


@pytest.mark.parametrize(
    ("first", "second", "kind", "expected"),
    [
        ("5ms", "5xs", QUANTITY_KIND, []),
        ("5xs", "5ms", QUANTITY_KIND, ["5ms"]),
        ("v1.2", "w1.2", VERSION_KIND, []),
        ("1.2", "3.4", VERSION_KIND, ["3.4"]),
        ("src/a.py", "lib/b.ts", PATH_KIND, ["lib/b.ts"]),
        ("npm", "Xyz", SHORT_KIND, []),
        ("npm", "lbs", SHORT_KIND, ["lbs"]),
    ],
)
def test_words_like_an_earlier_one(first: str, second: str, kind: int, expected: list[str]) -> None:
    names = WordNames()
    names.read(first)
    assert names.read(second)[kind] == expected


def test_a_row_of_capitalized_words_is_one_name_or_none() -> None:
    assert WordNames().read("Aa " * 3 + "Ab")[0] == ["Aa Aa Aa Ab"]
    assert WordNames().read("Aa " * 100_000 + "AbC")[0] == []  # each part tried: for ever


def test_not_everything_is_remembered() -> None:
    names = WordNames()
    for start in range(0, 120_000, 20_000):
        text = " ".join(f"item_{n}" for n in range(start, start + 20_000))
        assert len(set(names.read(text)[3])) == 20_000
    assert len(names._known) < 80_000
    names.read("x" * 1_000)
    assert "x" * 1_000 not in names._known
