"""Many short words looked for at once: the scanner sees what plain Python sees."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scan.needles import Needles
from refold.scan.secret_names import NEEDLES, find_names
from refold.scan.view import TextView
from tests.native import needs_scanner, the_scanner

SIGNS = ("=", "://", "ab", "abc", "cat ", "a sign that is longer than any row")
LONG = SIGNS[-1]
PIECES = (
    *("pass", "Pass", "word", "db", "PIN", "pin", "s", "otp", "rootPassword", "tan", "sTan", "key"),
    *("SQLPWD=", "pwd:", "api", " ", "_", "-", ".", "2", "KEY", "clé", "鍵", "пароль", "lösenord"),
    *("İ", "\u212a", "\x01", "é", "x", "X", "mot de passe", "token", "session", "passwort", ":"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
SIGNED = st.lists(st.sampled_from([*SIGNS, *"abc:/ét", LONG[:20], LONG[:19]])).map("".join)


@settings(max_examples=300)
@given(SIGNED)
def test_plain_python_sees_what_is_there(text: str) -> None:
    assert Needles(SIGNS, {}, None).look(text, text) == (
        [sign for sign in SIGNS if sign in text],
        None,
    )


@needs_scanner
@settings(max_examples=300)
@given(SIGNED)
def test_the_scanner_sees_the_same(text: str) -> None:
    seen = Needles(SIGNS, {}, the_scanner()).look(text, text)
    assert set(seen.signs) == {sign for sign in SIGNS if sign[:20] in text}


@needs_scanner
@settings(max_examples=1_000)
@given(TEXTS)
def test_no_word_is_missed_where_the_scanner_has_looked(text: str) -> None:
    lower = TextView(text).lower
    seen = Needles((), NEEDLES, the_scanner()).look(text, lower)
    assert seen.places is not None
    assert list(find_names(text, lower, seen.places)) == list(find_names(text, lower))


@needs_scanner
def test_few_places_are_left_to_look_at() -> None:
    text = "The standard paste of the spinning sofa was compared tokens with what stands in it."
    seen = Needles((), NEEDLES, the_scanner()).look(text, text.lower())
    assert seen.places == [text.index("tokens")]


@pytest.mark.parametrize("places", [None, []])
def test_places_say_where_to_look(places: list[int] | None) -> None:
    assert len(list(find_names("a token", "a token", places))) == (places is None)


@needs_scanner
@pytest.mark.parametrize(
    "arguments",
    [
        *[(), ("a",), ("a", "ab", b"", b""), ("a", "a", b"", b""), (1, "a", bytes(32768), b"")],
        ("a", "a", bytes(32768), "no bytes"),
    ],
)
def test_what_is_no_table_is_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match="wanted"):
        the_scanner().needles(*arguments)


def test_too_many_signs_are_refused() -> None:
    with pytest.raises(ValueError, match="1024"):
        Needles(map(str, range(1025)), {}, None)
