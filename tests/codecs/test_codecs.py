"""Every codec writes what its fixture says and decodes what it wrote, whatever the text."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refold.codecs import CODECS, Codec
from refold.errors import FormatError
from tests.conversations import SENTENCES

FIXTURES = Path(__file__).parent / "fixtures"
BY_NAME = {codec.name: codec for codec in CODECS}
# `=== becomes: name`, the text, `--- new`, its new form; or `=== stays: name` and the text.
CASE = re.compile(r"^=== (becomes|stays): (.+)\n((?:(?!=== ).*\n)*)", re.MULTILINE)
SIGNS = str.maketrans({"⇥": "\t", "␛": "\x1b", "␍": "\r", "␠": " ", "␇": "\x07"})


@cache
def cases(name: str) -> list[tuple[str, str, str | None]]:
    source = (FIXTURES / f"{name}.md").read_text(encoding="utf-8").translate(SIGNS)
    found = []
    for case in CASE.finditer(source):
        text, _, new = case[3][:-1].partition("\n--- new\n")
        found.append((case[2], text, new if case[1] == "becomes" else None))
    return found


def all_cases() -> list[object]:
    return [
        pytest.param(codec, text, new, id=f"{codec.name}-{name}")
        for codec in CODECS
        if (FIXTURES / f"{codec.name}.md").exists()
        for name, text, new in cases(codec.name)
    ]


@pytest.mark.parametrize(("codec", "text", "new"), all_cases())
def test_fixture(codec: Codec, text: str, new: str | None) -> None:
    assert codec.apply(text) == new
    assert proves_itself(codec, text)


def test_each_row_has_a_fixture_and_each_fixture_a_row() -> None:
    assert {path.stem for path in FIXTURES.glob("*.md")} == set(BY_NAME)


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_each_fixture_has_both_kinds(name: str) -> None:
    assert {new is None for _, _, new in cases(name)} == {True, False}


@cache
def pieces(codec: Codec) -> list[str]:
    """Return lines of the texts and of the new forms of one codec."""
    lines = {
        line for _, text, new in cases(codec.name) for line in (text + (new or "")).split("\n")
    }
    return sorted(lines | {"", " ", "\t", "\r", "\x00", "\u2028", "\ud800", "{", "[", "]", "é"})


@st.composite
def surrounded(draw: Any, codec: Codec) -> str:
    """Put texts that the codec has a new form for among lines that it has nothing to do with."""
    known = st.sampled_from([text for _, text, new in cases(codec.name) if new])
    said = st.lists(st.sampled_from(SENTENCES), max_size=3).map("\n".join)
    joint: str = draw(st.sampled_from(("\n", "\n\n")))
    return joint.join(draw(st.lists(st.one_of(known, known, said), min_size=1, max_size=4)))


def proves_itself(codec: Codec, text: str) -> bool:
    """Encode a text, and tell whether decoding gives it back, or encoding changes no more."""
    new = codec.encode(text) or text
    return new == text or (codec.decode or codec.encode)(new) in (text, new, None)


DECODABLE = [codec for codec in CODECS if codec.decode is not None]


@pytest.mark.parametrize("codec", DECODABLE, ids=lambda codec: codec.name)
@given(data=st.data())
def test_decode_undoes_encode(codec: Codec, data: st.DataObject) -> None:
    """Whatever comes out of `encode`, not only what would be used: these are texts of its kind."""
    assert proves_itself(codec, data.draw(surrounded(codec)))


@pytest.mark.parametrize("codec", DECODABLE, ids=lambda codec: codec.name)
def test_a_decoder_that_is_wrong_is_found_out(codec: Codec) -> None:
    wrong = codec._replace(decode=lambda new: new[::-1])
    texts = [text for _, text, new in cases(codec.name) if new]
    assert all(codec.apply(text) for text in texts)
    assert not any(wrong.apply(text) for text in texts)


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
@given(data=st.data())
def test_what_looks_like_a_new_form_is_decoded_or_refused(
    codec: Codec, data: st.DataObject
) -> None:
    """Lines of real and of encoded texts, mixed: there is a new form, or there is none."""
    lines = data.draw(st.lists(st.sampled_from(pieces(codec)), max_size=30))
    text = data.draw(st.sampled_from(("\n", "\n", "\r\n"))).join(lines)
    new = codec.apply(text)
    assert new is None or codec.decode is None or codec.decode(new) == text


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec.name)
@given(text=st.text())
@example(text="")
@example(text="\n")
def test_any_text_is_decoded_or_refused(codec: Codec, text: str) -> None:
    codec.encode(text)
    with suppress(FormatError):
        (codec.decode or codec.encode)(text)
