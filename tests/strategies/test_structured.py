"""The output of tools, line by line: the scanner in C says what plain Python says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.strategies.structured import (
    are_shaped,
    is_structured,
    summarize_structured,
    told_by_lines,
)
from tests.native import needs_scanner, the_scanner

VERDICTS = b"PASS FAIL ERROR WARNING WARN OK SKIP"
WORDS = b"pass fail error warning warn test tests total duration passed failed"
PIECES = (
    *("src/a.py:12: x", "a.b:", ":3:", "12", ":", ".", "/", "-", "*", " - ", "key: v", "key:"),
    *("PASS", "Warn", "WARNING", "Tests", "test_", "_fail", "errors", "OK", "SKIP", "x", "K"),
    *(" ", "\t", "\r", "\v", "\x1c", "\x1f", "\x00", "\x7f", "\n", "\n\n"),
    *("é: x", "\x85", "\xa0", "²", "ª", "µ", "fail\xadfail", "éerror", "errorß"),
)
LATIN = st.text(st.characters(max_codepoint=255))


def lines_of(pieces: list[str]) -> str:
    return "".join(pieces)


outputs = st.lists(st.sampled_from(PIECES) | LATIN, max_size=60).map(lines_of)


@needs_scanner
@given(outputs)
def test_the_scanner_sees_the_same_shapes(text: str) -> None:
    assert the_scanner().are_shaped(text, VERDICTS, 6, 80) == are_shaped(text)


@needs_scanner
@given(outputs)
def test_the_scanner_is_told_the_same(text: str) -> None:
    told = the_scanner().told(text, WORDS, 3)
    assert told is not None
    assert list(map(list, told)) == list(map(list, told_by_lines(text)))


@needs_scanner
def test_the_scanner_leaves_wide_characters_to_python() -> None:
    for text in ("文", "ſ", "😀"):
        assert the_scanner().told(text, WORDS, 3) is None
        assert the_scanner().are_shaped(text, VERDICTS, 6, 80) is None


@needs_scanner
def test_the_scanner_refuses_what_it_cannot_read() -> None:
    with pytest.raises(TypeError):
        the_scanner().told(b"a", WORDS, 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        the_scanner().are_shaped("a", "PASS", 6, 80)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="words"):
        the_scanner().told("a", b"word " * 17, 3)


@pytest.mark.parametrize("foreign", ["é", "文", "ſ"])
def test_what_is_not_ascii_is_read_alike(foreign: str) -> None:
    lines = [f"src/{name}.py:{number}: hit" for number, name in enumerate("abcabc")]
    plain, mixed = "\n".join(lines), "\n".join([*lines, foreign])
    assert is_structured(plain) is is_structured(mixed) is True
    assert summarize_structured(plain, 600) == summarize_structured(mixed, 600)
