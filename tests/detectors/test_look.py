"""One look at a text: it says what the gates say, and is at least as hard to pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conversations import texts
from tests.native import needs_scanner, the_scanner

from refold.detectors import DETECTORS, _signs
from refold.detectors._kinds import FOREIGN_KINDS, KINDS
from refold.detectors._look import look
from refold.detectors._terms import TERMS
from refold.detectors.reasoning_chain import CONCLUSIVE, CONNECTIVES, MARKERS, Phrase
from refold.text.view import TextView

pytestmark = needs_scanner
SIGNS = {
    name: value for name, value in vars(_signs).items() if name.isupper() and value != _signs.ALWAYS
}


def signs(text: str) -> set[str]:
    """Name the signs of *text*."""
    found = look(text, the_scanner())
    return {name for name, value in SIGNS.items() if found & value}


def test_signs_are_named_after_the_detectors() -> None:
    assert {detector.reason.upper(): detector.sign for detector in DETECTORS} == SIGNS


OF_THE_WHOLE = {"JSON_STRUCTURE", "HIGH_LINE_LENGTH_VARIANCE", "HIGH_SPECIAL_CHAR_RATIO"}
"""Signs of a whole text, which it does not have where it is a part of another one."""
SEEN = [
    ("CODE_FENCE", "a\n```\nb"),
    ("INDENTED_CODE", "a\n    b"),
    ("INDENTED_CODE", "a\n\tb"),
    ("LATEX_MATH", "$x$"),
    ("UNICODE_MATH", "a ≤ b"),
    ("JSON_STRUCTURE", '{"a": 1}'),
    ("YAML_STRUCTURE", "a: b\nc-d: e"),
    ("YAML_STRUCTURE", "a:\n  b:"),
    ("VERSE_PATTERN", "a\nThe sea is calm\nÉven now"),
    ("HIGH_LINE_LENGTH_VARIANCE", "a\n\n\n\n" + "b" * 90),
    ("HIGH_SPECIAL_CHAR_RATIO", "a+b"),
    ("SQL_CONTENT", "drop the VARCHAR"),
    ("SQL_CONTENT", "select a from b where c"),
    ("API_KEY", "is sk-" + "a1" * 9),
    ("BASE64_CONTENT", "a+/9" * 10),
    ("HASH_OR_SHA", "0f" * 20),
    ("REASONING_CHAIN", "It follows that"),
    ("REASONING_CHAIN", "∴"),
    ("REASONING_CHAIN", "Proof :"),
    ("REASONING_CHAIN", "Thus it was, hence, and as a result"),
    ("REASONING_CHAIN", "thus\n1. a\n2. b\nstep 3: c"),
    ("REASONING_CHAIN", "thus\nstep 1.1 a\nstep 1.2 b\nstep 1.3 c"),
    ("URL", "ftp://x"),
    ("EMAIL", "a@b"),
    ("PHONE", "call 5551234567"),
    ("PHONE", "555-123-4567"),
    ("VERSION_NUMBER", "V2.0"),
    ("VERSION_NUMBER", "Version 3"),
    ("FILE_PATH", "a/b"),
    ("IP_OR_SEMVER", "1.2"),
    ("QUOTED_KEY", '"a"'),
    ("LEGAL_TERM", "you MAY not"),
    ("DIRECT_QUOTE", "he said 「so」"),
    ("NUMERIC_WITH_UNITS", "in 5 km"),
    ("NUMERIC_WITH_UNITS", "2.5\u00a0GHz"),
    ("NUMERIC_WITH_UNITS", "9°C"),
    ("ERROR_TRACEBACK", "Traceback"),
    ("ERROR_TRACEBACK", "Exception in thread"),
    ("ERROR_TRACEBACK", "x\n  at f(y)"),
    ("HTTP_ERROR", "status code is: 404"),
    ("HTTP_ERROR", "HTTP/1.1 500"),
    ("FAILURE_SIGNATURE", "Permission denied"),
]


@pytest.mark.parametrize(("sign", "text"), SEEN)
def test_a_sign_is_seen(sign: str, text: str) -> None:
    assert sign in signs(text)


@pytest.mark.parametrize(("sign", "text"), [case for case in SEEN if case[0] not in OF_THE_WHOLE])
def test_a_sign_is_seen_in_a_long_text(sign: str, text: str) -> None:
    assert sign in signs("So it was. " * 500 + f"\n{text}")
    assert sign in signs(f"\n{text}\n" + "So it was. " * 500)


@pytest.mark.parametrize(
    ("sign", "text"),
    [
        ("CODE_FENCE", "a `b` ~ c"),
        ("INDENTED_CODE", "    a\n   b"),
        ("YAML_STRUCTURE", "a: b\nc d: e"),
        ("YAML_STRUCTURE", "a: b\nc:d"),
        ("VERSE_PATTERN", "a\nThe sea is calm.\nEven now"),
        ("HIGH_LINE_LENGTH_VARIANCE", "aa\nbb\ncc\ndd"),
        ("HIGH_SPECIAL_CHAR_RATIO", "a + b or c"),
        ("SQL_CONTENT", "where did it come from"),
        ("API_KEY", "src/one/two/three.four/five"),
        ("BASE64_CONTENT", "a1_b2-" * 9),
        ("REASONING_CHAIN", "because the proof follows a step"),
        ("REASONING_CHAIN", "thus and hence"),
        ("URL", "a: //b"),
        ("PHONE", "in 2024, 555 and 1234"),
        ("VERSION_NUMBER", "v2 of this"),
        ("LEGAL_TERM", "may or not"),
        ("NUMERIC_WITH_UNITS", "5 kmx, 7 a, x9 s, 1.2.3 km"),
        ("ERROR_TRACEBACK", "look at f(x)\n  at noon"),
        ("HTTP_ERROR", "the status of what we did in room 404"),
        ("FAILURE_SIGNATURE", "the connection was refused"),
    ],
)
def test_a_sign_is_not_seen(sign: str, text: str) -> None:
    assert sign not in signs(text)


def phrases(*groups: Mapping[bytes, Sequence[Phrase]]) -> list[str]:
    """Spell out the phrases of *groups*."""
    return [p.words.decode() for group in groups for found in group.values() for p in found]


@pytest.mark.parametrize("phrase", phrases(CONCLUSIVE))
def test_one_conclusive_phrase_is_an_argument(phrase: str) -> None:
    assert "REASONING_CHAIN" in signs(f"So {phrase.upper()} all.")


@pytest.mark.parametrize("phrase", phrases(CONNECTIVES, MARKERS))
def test_every_other_phrase_counts(phrase: str) -> None:
    others = [other for other in ("thus", "hence", "therefore") if other != phrase][:2]
    assert "REASONING_CHAIN" in signs(f"{phrase.title()} a, {others[0]} b, {others[1]} c.")
    assert "REASONING_CHAIN" not in signs(f"{phrase} a, {others[0]} b.")


@pytest.mark.parametrize(
    ("sign", "text"),
    [
        ("SQL_CONTENT", "the foreign \u212aEY"),
        ("LEGAL_TERM", "they \u017fhall"),
        ("FAILURE_SIGNATURE", "perm\u0130ssion den\u0131ed"),
        ("VERSION_NUMBER", "\u212aversion 3"),
        ("NUMERIC_WITH_UNITS", "in 5 s\u212a"),
    ],
)
def test_letters_that_only_look_foreign_rule_no_word_out(sign: str, text: str) -> None:
    assert sign in signs(text)


@pytest.mark.parametrize("char", ["\u0130", "\u0131", "\u017f", "\u212a"])
def test_letters_that_only_look_foreign_are_no_word(char: str) -> None:
    assert signs(f"no word {char}") == set()


SIGNS_AND_WORDS = st.lists(
    st.sampled_from(
        [
            *'aZ 1.:/-_+=?!\n\t"`~$@(°é漢。\u0130\u0131\u017f\u212a',
            "thus ",
            "at ",
            "status ",
            "403",
            "km",
            "\n  ",
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=300)
@given(st.one_of(texts(), SIGNS_AND_WORDS))
def test_a_look_rules_nothing_out(text: str) -> None:
    seen = look(text, the_scanner())
    for detector in DETECTORS:
        if detector.finds(TextView(text)):
            assert seen & detector.sign, detector.reason


@settings(max_examples=200)
@given(st.one_of(texts(), SIGNS_AND_WORDS))
def test_measures_are_exact(text: str) -> None:
    seen = signs(text)
    for reason in ("high_line_length_variance", "high_special_char_ratio"):
        detector = next(detector for detector in DETECTORS if detector.reason == reason)
        assert (reason.upper() in seen) is detector.finds(TextView(text))


def test_nothing_has_no_signs() -> None:
    assert signs("") == set()


@pytest.mark.parametrize("place", range(4))
def test_what_is_no_table_is_refused(place: int) -> None:
    tables = [KINDS, FOREIGN_KINDS, TERMS.slots, TERMS.rows]
    tables[place] = b""
    with pytest.raises(TypeError):
        the_scanner().look("text", tables[0], tables[1], tables[2], tables[3])
