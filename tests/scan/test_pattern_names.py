"""Names found by the patterns: one kind after the other, in linear time."""

from __future__ import annotations

from hypothesis import given, settings

from refold.scan.entities import PatternNames
from tests.scan.named_texts import named_texts, names_by_pattern


@settings(max_examples=100)
@given(named_texts())
def test_names_are_those_of_the_plain_patterns(text: str) -> None:
    assert list(PatternNames().find(text)) == names_by_pattern(text)


def test_a_row_of_capitalized_words_is_one_name_or_none() -> None:
    assert PatternNames().find("Aa " * 3 + "Ab") == ("Aa Aa Aa Ab",)
    assert PatternNames().find("Aa " * 100_000 + "AbC") == ("AbC",)  # each part tried: for ever
