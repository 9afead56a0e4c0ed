"""A kind of value is spelled once: it is protected, a fact, asked for by checks, and redacted."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import classify
from refold.scan.facts import find_values
from refold.scan.patterns import compact_iban, find_ibans, trim_url
from refold.scan.redaction import hide_secrets
from refold.scan.values import values_of

IBANS = (
    "DE89 3704 0044 0532 0130 00",
    "GB82WEST12345698765432",
    "FR14-2004-1010-0505-0001-3M02-606",
    "NO93 8601 1117 947",
)


@pytest.mark.parametrize("iban", IBANS)
def test_an_iban_is_the_same_to_everyone(iban: str) -> None:
    text = f"1. Please pay 20 EUR\n2. to {iban}, not later than 2031-03-14."
    assert [text[a:b] for a, b in find_ibans(text)] == [iban]
    assert "iban" in classify(text).reasons
    assert [value for _, value in find_values(text)] == ["20 EUR", iban, "2031-03-14"]
    assert hide_secrets(text) == text.replace(iban, "<secret>")


@pytest.mark.parametrize("iban", IBANS)
def test_an_iban_is_one_value_however_it_is_written(iban: str) -> None:
    written, compact = values_of(f"to {iban}."), values_of(f"to {compact_iban(iban)}.")
    assert [value.forms for value in written] == [value.forms for value in compact]


@pytest.mark.parametrize("iban", IBANS)
def test_a_wrong_digit_makes_it_no_iban(iban: str) -> None:
    places = [place for place, letter in enumerate(iban) if letter.isdigit()]
    spelled = {iban[:p] + digit + iban[p + 1 :] for p in places for digit in string.digits}
    assert [one for one in spelled if list(find_ibans(one))] == [iban]


@pytest.mark.parametrize(
    "wrong",
    [
        "DE89 3704 0044 0332 0130 00",  # but DE89 3704 0044 0332 0130 has right check digits
        "DE89 3704 0044 0332 0130",
        "AB28 3704 0044 0532 0130 00",  # no such country
    ],
)
def test_right_check_digits_alone_make_no_iban(wrong: str) -> None:
    assert list(find_ibans(wrong)) == []


def test_a_number_behind_an_iban_is_no_part_of_it() -> None:
    text = "AT61 1904 3002 3457 3201 2031"
    assert [text[a:b] for a, b in find_ibans(text)] == ["AT61 1904 3002 3457 3201"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("https://example.org/a.", "https://example.org/a"),
        ("https://example.org/a…", "https://example.org/a"),
        ("https://example.org/a'", "https://example.org/a"),
        ("https://example.org/a).", "https://example.org/a"),
        ("https://example.org/a_(b)", "https://example.org/a_(b)"),
        ("https://example.org/a_(b)),", "https://example.org/a_(b)"),
        ("https://example.org/?q=[1]}", "https://example.org/?q=[1]"),
        ("https://example.org/a/", "https://example.org/a/"),
    ],
)
def test_what_belongs_to_the_text_around_is_left_out(written: str, meant: str) -> None:
    assert trim_url(written) == meant


@given(st.text(alphabet="ab/.,;:!?'*_…()[]{}", max_size=40))
def test_only_the_end_is_trimmed_and_only_once(url: str) -> None:
    trimmed = trim_url(url)
    assert url.startswith(trimmed)
    assert trim_url(trimmed) == trimmed
