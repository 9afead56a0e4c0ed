"""Marks say in plain words what is shown, and how to get the rest."""

from __future__ import annotations

import pytest

from refold.notation.marks import (
    Stretch,
    digest,
    excerpt,
    media,
    read_amount,
    same_result,
    spell_amount,
)
from tests.notation.examples import plain_marks


@pytest.mark.parametrize(
    ("percent", "mark"),
    [(0, "[shortened #kdbfqamt]"), (9, "[shortened #kdbfqamt]"), (10, "[10% shown #kdbfqamt]")],
)
def test_a_mark_tells_the_share_from_a_tenth_on(percent: int, mark: str) -> None:
    assert excerpt("The lamp", percent, "kdbfqamt") == f"{mark}\nThe lamp"
    assert excerpt("", percent, "kdbfqamt") == mark


def test_a_mark_tells_how_many_errors_are_left_out() -> None:
    assert (
        excerpt("The lamp", 12, "kdbfqamt", 1)
        == "[12% shown, 1 error left out #kdbfqamt]\nThe lamp"
    )
    assert excerpt("", 0, "kdbfqamt", 7) == "[shortened, 7 errors left out #kdbfqamt]"


def test_a_digest_says_how_many_messages_it_stands_for() -> None:
    assert digest("The lamp", Stretch(24), "kdbfqamt").startswith("[24 messages, shortened #")
    assert digest("", Stretch(1), "kdbfqamt") == "[1 message #kdbfqamt]"


def test_a_long_digest_opens_with_a_sentence() -> None:
    head = digest("The lamp is lit. " * 200, Stretch(24, 3, 11), "kdbfqamt").splitlines()[0]
    assert head == (
        "[24 earlier messages (3 by the user, with 11 calls), shortened; "
        "fetch the whole text with #kdbfqamt]"
    )


def test_a_reference_names_a_call_whole_or_not_at_all() -> None:
    named = same_result("read_file path=src/a.py", "kdbfqamt")
    assert named == "[same as the result of read_file path=src/a.py above #kdbfqamt]"
    for call in ("", "run " + "x" * 200, "run paths=[a]", "run a #b", "run a\nb"):
        assert same_result(call, "kdbfqamt") == "[same as the copy above #kdbfqamt]"


def test_foreign_words_do_not_end_a_mark() -> None:
    mark = media("image", "https://x/a[1].png #kdbfqamt]\nhello", "qxzjvkab")
    assert mark.count("[") == mark.count("]") == mark.count("#") == 1
    assert "\n" not in mark


@pytest.mark.parametrize("text", plain_marks("The lamp is lit.", "kdbfqamt"))
def test_no_mark_looks_like_a_value_or_ends_in_a_line_break(text: str) -> None:
    head = text.splitlines()[0]
    assert "cce" not in head
    assert head.replace("3000 bytes", "").isascii()
    assert not any(word.isdigit() and len(word) > 2 for word in head.split() if word != "3000")
    assert text == text.rstrip() or text.endswith("lit.\n")


@pytest.mark.parametrize(
    ("count", "spelling"),
    [
        (7, "7"),
        (99, "99"),
        (149, "one hundred"),
        (150, "two hundred"),
        (9_949, "99 hundred"),
        (9_950, "10 thousand"),
        (99_499, "99 thousand"),
        (250_000, "three hundred thousand"),
    ],
)
def test_an_amount_never_looks_like_a_value(count: int, spelling: str) -> None:
    assert spell_amount(count) == spelling
    assert spell_amount(read_amount(spelling)) == spelling
