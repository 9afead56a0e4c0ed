"""Numbers that are written as words."""

from __future__ import annotations

import pytest

from refold.gates import values_in


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("forty-two rows", "42"),
        ("two hundred and five rows", "205"),
        ("twelve hundred rows", "1200"),
        ("two thousand five hundred rows", "2500"),
        ("five million rows", "5000000"),
        ("5 million rows", "5000000"),
        ("fifty minutes", "50min"),
        ("it came twice", "2"),
        ("half of the rows", "50%"),
        ("a single row", "1"),
        ("dreiundzwanzig Zeilen", "23"),
        ("двадцать три строки", "23"),
    ],
)
def test_a_count_in_words_is_a_value(text: str, value: str) -> None:
    assert value in values_in(text)


@pytest.mark.parametrize("text", ["this one", "one of them", "no one came", "one by one"])
def test_a_pronoun_is_none(text: str) -> None:
    assert values_in(text) == set()


def test_counts_beside_each_other_stay_several() -> None:
    assert values_in("one two three") == {"1", "2", "3"}
    assert values_in("nineteen eighty") == {"19", "80"}
