"""Marks say in plain words what is shown, and how to get the rest."""

from __future__ import annotations

import re

import pytest

from refold import legend
from refold.notation.marks import argument, digest, excerpt, media, reformatted, same_result
from tests.notation.examples import plain_marks


def test_an_excerpt_says_that_it_is_a_part() -> None:
    assert excerpt("The lamp", "kdbfqamt") == "[part #kdbfqamt]\nThe lamp"
    assert excerpt("", "kdbfqamt") == "[shortened #kdbfqamt]"


def test_a_digest_says_how_many_messages_it_stands_for() -> None:
    assert digest("The lamp", 240, "kdbfqamt").startswith("[240 messages, shortened #")
    assert digest("", 1, "kdbfqamt") == "[1 message #kdbfqamt]"


@pytest.mark.parametrize(
    "text",
    [
        *(excerpt("x", "…"), excerpt("", "…"), digest("x", 24, "…"), digest("", 24, "…")),
        *(reformatted("x", "…"), same_result("", "…"), argument("x", "…").partition("… ")[2]),
        *("user:", "assistant:", "→", "…"),
    ],
)
def test_the_legend_explains_every_form(text: str) -> None:
    assert text.split("\n", maxsplit=1)[0] in legend()


def test_the_legend_is_short_and_has_no_handle_to_copy() -> None:
    assert len(legend().split()) <= 90
    assert not re.search(r"#[a-z0-9]", legend())


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
    assert text == text.rstrip() or text.endswith("lit.\n")
