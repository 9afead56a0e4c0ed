"""Cutting between visible characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.scan.truncate import cut, cut_words, encodable
from tests.conversations import texts

CLUSTERS = (
    *("👩‍👩‍👧‍👦", "👍🏽", "🇨🇿", "e\u0301", "नि", "กำ", "\r\n", "🏴‍☠️", "a\u0300\u0301\u0302"),
    *("\u1112\u1161\u11ab", "\u1100\u1100\u1161", "\u1100가", "क्षि", "ক্ষ", "क\u200c", "ｶﾞ"),
)


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_no_cut_inside_a_visible_character(cluster: str) -> None:
    text = f"ab{cluster * 3}cd"
    edges = {0, 1, 2, *(2 + n * len(cluster) for n in range(1, 4))}
    edges |= {len(text) - 1, len(text)}
    for limit in range(len(text) + 2):
        assert len(cut(text, limit)) in edges
        assert len(cut(text, limit)) <= limit


def test_flags_pair_up_from_the_left() -> None:
    text = "🇨🇿🇧🇷🇩🇪"
    assert [len(cut(text, n)) for n in range(7)] == [0, 0, 2, 2, 4, 4, 6]


def test_a_surrogate_pair_spelled_as_two_is_not_cut() -> None:
    assert cut("a\ud83d\ude00b", 2) == "a"


@pytest.mark.parametrize("limit", [-3, 0])
def test_no_room_gives_nothing(limit: int) -> None:
    assert cut("abc", limit) == ""
    assert cut_words("abc def", limit) == ""


def test_what_fits_is_not_touched() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abc", 99) == "abc"


def test_marks_without_end_are_cut_anyway() -> None:
    assert len(cut("a" + "\u0301" * 500, 300)) == 300


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (11, "the harbour"),
        (12, "the harbour"),
        (14, "the harbour"),
        (18, "the harbour office"),
        (2, "th"),
    ],
)
def test_words_are_kept_whole_if_one_is_near(limit: int, expected: str) -> None:
    assert cut_words("the harbour office opens", limit) == expected


@given(texts(), st.integers(-2, 80))
def test_a_cut_is_a_beginning(text: str, limit: int) -> None:
    for shorter in (cut(text, limit), cut_words(text, limit)):
        assert text.startswith(shorter)
        assert len(shorter) <= max(limit, 0) or shorter in (text, text.rstrip())


def test_lone_surrogates_are_replaced() -> None:
    assert encodable("a\ud800é") == "a?é"
