"""Tables for the scanner: they say what the patterns say of each character."""

from __future__ import annotations

import re

import pytest

from refold.scan.name_tables import (
    DIGIT,
    IDEOGRAPH,
    IS_CAMEL,
    IS_HALF_PROPER,
    IS_PASCAL,
    IS_PROPER,
    IS_SHORT,
    IS_SNAKE,
    JOINT,
    OUTSIDE,
    TABLE_SIZE,
    name_tables,
)
from refold.scan.patterns import IDEOGRAPHS, LOWER, UPPER

TABLES = name_tables()
EVERY = [chr(code) for code in range(TABLE_SIZE)]


def class_of(char: str) -> int:
    return TABLES.classes[ord(char)]


def marks_of(word: str) -> int:
    state = OUTSIDE
    for char in word:
        state = TABLES.steps[16 * state + class_of(char)]
    return TABLES.marks[state]


def members(pattern: str) -> set[str]:
    return set(re.findall(pattern, "".join(EVERY)))


def test_words_are_made_of_the_same_characters() -> None:
    assert {char for char in EVERY if class_of(char) > JOINT} == members(r"\w")


def test_digits_and_ideographs_are_the_same() -> None:
    assert {char for char in EVERY if class_of(char) == DIGIT} == set("0123456789")
    assert {char for char in EVERY if class_of(char) == IDEOGRAPH} == members(
        rf"[{IDEOGRAPHS}](?<=\w)"
    )


def test_capitals_and_small_letters_are_the_same() -> None:
    assert {char for char in EVERY if marks_of(char + "a") & IS_PROPER} == members(f"[{UPPER}]")
    assert {char for char in EVERY if marks_of("A" + char) & IS_PROPER} == members(f"[{LOWER}]")


@pytest.mark.parametrize(
    ("word", "marks"),
    [
        ("tide", 0),
        ("Tide", IS_PROPER),
        ("TideBox", IS_PASCAL | IS_HALF_PROPER),
        ("T5B", IS_PASCAL),
        ("T5B_X", IS_SNAKE),
        ("T5Bx", IS_PASCAL),
        ("T5Bx_X", 0),
        ("TTide", 0),
        ("tideBox", IS_CAMEL),
        ("tideBox_x", 0),
        ("tide_box", IS_SNAKE),
        ("tide__box", 0),
        ("tide_", 0),
        ("tide_Box", 0),
        ("MAX_TIDE", IS_SNAKE),
        ("MAX_tide", 0),
        ("5_tides", 0),
        ("npm", IS_SHORT),
        ("NpM", IS_SHORT | IS_PASCAL | IS_HALF_PROPER),
        ("Hmm", IS_SHORT | IS_PROPER),
        ("np", 0),
        ("npm5", 0),
        ("ſpm", IS_SHORT),
        ("Ångström", IS_PROPER),
        ("naïveTide", 0),
    ],
)
def test_what_a_word_is(word: str, marks: int) -> None:
    assert marks_of(word) == marks


def test_all_states_have_numbers_of_one_byte() -> None:
    assert len(TABLES.steps) == 16 * len(TABLES.marks)
    assert max(TABLES.steps) < len(TABLES.marks)
