"""Fenced code: where it begins and ends."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.classic.structured import fences, has_fence, prose_around
from tests.conversations import texts


def stretches(text: str) -> list[tuple[int, int, bool]]:
    """Return (start, end, whether it is code) of every stretch."""
    code = [(start, end, True) for start, end in fences(text)]
    return sorted([*code, *((start, end, False) for start, end in prose_around(text))])


def pieces(text: str) -> list[tuple[str, str]]:
    """Return (kind, text) of every stretch."""
    return [("code" if is_code else "prose", text[a:b]) for a, b, is_code in stretches(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n```py\nx\n```\nb", [("prose", "a\n"), ("code", "```py\nx\n```"), ("prose", "\nb")]),
        ("a\n~~~\nx\n~~~\nb", [("prose", "a\n"), ("code", "~~~\nx\n~~~"), ("prose", "\nb")]),
        ("```\nx\n```", [("code", "```\nx\n```")]),
        ("a\n```py\nx = 1", [("prose", "a\n"), ("code", "```py\nx = 1")]),
        ("  ```\n  x\n  ```", [("code", "  ```\n  x\n  ```")]),
        ("no code here", [("prose", "no code here")]),
        ("`inline` and ```inline too``` here", [("prose", "`inline` and ```inline too``` here")]),
    ],
)
def test_simple_fences(text: str, expected: list[tuple[str, str]]) -> None:
    assert pieces(text) == expected


def test_a_longer_fence_holds_shorter_ones() -> None:
    code = "````md\n```py\nx\n```\n````"
    assert pieces(f"a\n{code}\nb") == [("prose", "a\n"), ("code", code), ("prose", "\nb")]


def test_tildes_do_not_close_backticks() -> None:
    code = "```\nx\n~~~\ny\n```"
    assert pieces(f"{code}\nb") == [("code", code), ("prose", "\nb")]


def test_a_fence_with_a_language_does_not_close() -> None:
    code = "```\nx\n```py\ny\n```"
    assert pieces(code) == [("code", code)]


def test_an_opener_behind_text_counts() -> None:
    text = "Here it is: ```python\nx = 1\n```\nDone."
    found = pieces(text)
    assert [kind for kind, _ in found] == ["prose", "code", "prose"]
    assert found[1][1] == "```python\nx = 1\n```"


def test_two_blocks_next_to_each_other() -> None:
    blocks = ["```\na\n```", "```\nb\n```"]
    assert [piece for kind, piece in pieces("\n".join(blocks)) if kind == "code"] == blocks


def test_an_empty_text_has_no_stretch() -> None:
    assert stretches("") == []


@settings(max_examples=100)
@given(st.one_of(texts(), st.text(st.sampled_from("`~\n ax"), max_size=80)))
def test_stretches_tile_the_text(text: str) -> None:
    assert "".join(text[start:end] for start, end, _ in stretches(text)) == text
    assert has_fence(text) == any(is_code for _, _, is_code in stretches(text))


def test_more_tildes_than_five_underline_a_heading() -> None:
    assert not has_fence("Harbour\n~~~~~~~\nThe ferry is late.")
