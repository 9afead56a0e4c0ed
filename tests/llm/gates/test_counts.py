"""Numbers that are written as words."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refold.llm.gates._counts import in_digits
from refold.llm.gates._values import values_in
from tests.llm.gates.spelling import SPELLERS


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
        ("zweieinhalb Stunden", "2.5h"),
        ("two and a half hours", "2.5h"),
        ("87 mille euros", "87000"),
        ("un tiers du prix", "1/3"),
        ("two thirds of it", "2/3"),
        ("三分之一", "1/3"),
        ("百分之二十", "20%"),
        ("两百个用户", "200个"),
        ("二〇三一年", "2031年"),
        ("八月一日", "--08-01"),
        ("the third floor", "3"),
        ("im zweiten Stock", "2"),
        ("um halb vier", "15:30"),
        ("by noon", "12:00"),
        ("vingt et un jours", "21d"),
        ("two per cent", "2%"),
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


@pytest.mark.parametrize(
    "text", ["once upon a time", "il a le dos au mur", "万一", "千万不要", "十分重要", "an elf"]
)
def test_a_word_of_another_meaning_is_none(text: str) -> None:
    assert values_in(text) == set()


@pytest.mark.parametrize("language", SPELLERS)
@given(number=st.one_of(st.integers(2, 2_000), st.integers(2, 999_999_999)))
@example(number=71)
@example(number=80)
@example(number=1_000_001)
@example(number=21_000)
def test_a_spelled_number_is_read_back(language: str, number: int) -> None:
    spell, sentence = SPELLERS[language]
    assert in_digits(sentence.format(spell(number))) == sentence.format(number)


@pytest.mark.parametrize("language", SPELLERS)
def test_every_number_up_to_two_thousand_is_read_back(language: str) -> None:
    spell, sentence = SPELLERS[language]
    wrong = [
        n for n in range(2, 2_001) if in_digits(sentence.format(spell(n))) != sentence.format(n)
    ]
    assert wrong == []
