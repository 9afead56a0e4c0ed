"""Every detector sees what its fixture says, and holds to the contract whatever the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold import classify
from refold.classic.detectors import DETECTORS, TABLE, Detector, DetectorTable, pattern_finder
from refold.classic.texts import View

FIXTURES = Path(__file__).parent / "fixtures"
BY_REASON = {detector.reason: detector for detector in DETECTORS}
# `=== yes: name` or `=== no: name`, then the text up to the next such line.
CASE = re.compile(r"^=== (yes|no): (.+)\n((?:(?!=== ).*\n)*)", re.MULTILINE)


def cases(reason: str) -> list[tuple[bool, str, str]]:
    source = (FIXTURES / f"{reason}.md").read_text(encoding="utf-8")
    return [(found[1] == "yes", found[2], found[3][:-1]) for found in CASE.finditer(source)]


@pytest.mark.parametrize("reason", BY_REASON)
def test_fixture(reason: str) -> None:
    detector = BY_REASON[reason]
    for expected, name, text in cases(reason):
        assert detector.finds(View(text)) is expected, name


def test_each_row_has_a_fixture_and_each_fixture_a_row() -> None:
    assert {path.stem for path in FIXTURES.glob("*.md")} == set(BY_REASON)


@pytest.mark.parametrize("reason", BY_REASON)
def test_each_fixture_has_cases_of_both_kinds(reason: str) -> None:
    expected = [case[0] for case in cases(reason)]
    assert expected.count(True) >= 4
    assert expected.count(False) >= 4


def test_reasons_are_unique() -> None:
    assert len(BY_REASON) == len(DETECTORS)


# Pieces that detectors look for, so that generated texts come near their patterns.
PIECES = st.sampled_from(
    (
        *(
            "$",
            "$$",
            "x",
            "A b c d",
            "\n",
            "    ",
            "\t",
            "```",
            "~~~",
            "key: v",
            ":",
            '"',
            "“",
            "”",
        ),
        *("a" * 41, "http://", "@b.co", "1.2", "555-123-4567", "v1.", "sk-", "SELECT ", "/", "İ"),
        *(
            "thus ",
            "as a result ",
            "Proof:",
            "where ",
            "GROUP BY ",
            "order by ",
            "not null ",
            "from t ",
        ),
        *(
            "xhttp/1.1 500 ",
            "HTTP/2.0 404",
            "may not ",
            "permission denied",
            "version 3",
            "5 km",
            "ſ",
        ),
        *("AKIA" + "A1B2" * 4, "SG." + "aB3" * 7 + "." + "xY9" * 7, "ab_" + "c4D" * 8, "\nLe", "?"),
        *("it follows that ", "this means that ", "Because Of This, ", "therefore ", "analysis: "),
        *(
            "let me thin\u212a ",
            "step by step",
            "first ",
            "\n1. a\n2. b\n3) c\n",
            "\nStep 4: ",
            "\nstep 1.1 a\nstep 1.2 b\nstep 1.3 c",
        ),
        *("status code is 503", "STATUS = 500", "\n\tat f(x", "\n  at new A (b.js:3:4)", "\n at "),
        *("Traceback (most recent call last)", "Exception in thread", "connection timed out"),
        *(
            "7\u00a0km",
            "1,5 km",
            "2.5µs",
            "9 °C",
            "x3 s",
            "+49 (555) 123.4567",
            "v2.0-rc1",
            "ı",
            "é",
        ),
        *(
            "\nall: x\n  b_c:\n",
            "\nA quiet lake lay there\nÀ b c d\n",
            "!",
            "。",
            "+/" * 21,
            "「a」",
        ),
        *("thus ", "1. ", "∀", "≤", "≠", "[", "{", "at a(", "status: 404", "shall", " ", "\ud800"),
    )
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))


@given(TEXTS)
def test_spans_are_ordered_and_inside_the_text(text: str) -> None:
    for detector in DETECTORS:
        found = detector.find(View(text))
        spans = [] if isinstance(found, bool) else list(found)
        assert spans == sorted(spans)
        assert all(0 <= start < end <= len(text) for start, end in spans)


@given(TEXTS)
def test_a_first_hard_reason_is_one_of_all(text: str) -> None:
    reasons = classify(text).reasons
    hard = tuple(one.reason for one in DETECTORS if one.hard and one.reason in reasons)
    assert TABLE.hard(View(text)) == hard
    first = TABLE.first_hard(View(text))
    assert first in hard if hard else not first


CRATE = Detector(reason="crate", hard=False, find=pattern_finder(re.compile("crate [0-9]++")))
PARCEL = Detector(reason="parcel", hard=True, find=pattern_finder(re.compile("parcel [0-9]++")))


def test_a_detector_that_was_added_is_asked() -> None:
    table = DetectorTable((*DETECTORS, PARCEL, CRATE))
    text = "So it was: parcel 7, crate 12."
    assert table.reasons(text) == ("parcel", "crate")
    assert table.hard(View(text)) == ("parcel",)
    assert list(table.soft_texts(View(text))) == ["crate 12"]


@given(TEXTS)
def test_soft_texts_are_short_and_from_the_text(text: str) -> None:
    shown = list(TABLE.soft_texts(View(text)))
    assert all(0 < len(piece) <= 120 and piece in text for piece in shown)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(see https://a.io/b_(c)), please.", ["https://a.io/b_(c)"]),
        ("Write to ana+x@mail.example.org.", ["ana+x@mail.example.org"]),
        ("Open src/refold/model.py.", ["src/refold/model.py"]),
        ('Set "timeout": 30 ms', ["timeout", "30 ms"]),
        ("Call +1 555 123 4567, now.", ["+1 555 123 4567"]),
        ("From v1.2.3-rc1 on", ["v1.2.3-rc1"]),
        ("请看https://a.io/x。", ["https://a.io/x"]),
    ],
)
def test_soft_texts_are_tight(text: str, expected: list[str]) -> None:
    assert list(TABLE.soft_texts(View(text))) == expected


def test_nothing_is_seen_in_nothing() -> None:
    assert classify("").reasons == ()


MEASURE = re.compile(
    r"(?<![\w.,])[0-9]+(?:\.[0-9]+)?[ \t\u00a0\u202f]?"
    r"(?:km|kg|ms|[µμ]s|ns|mhz|ghz|hz|mb|gb|tb|°c|°f|m|s)(?!\w)",
    re.ASCII | re.IGNORECASE,
)


@given(st.text(st.sampled_from("019.. ,\t\u00a0mMsSkKhzZ°cµμxX_\n\u212a"), max_size=40))
def test_measures_are_those_of_a_plain_pattern(text: str) -> None:
    spans = BY_REASON["numeric_with_units"].find(View(text))
    assert not isinstance(spans, bool)
    found = list(spans)
    assert found == [match.span() for match in MEASURE.finditer(text)]
