"""Where fenced code begins and ends."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scan.fences import has_fence, marked_lines, split_fences
from tests.conversations import texts


def pieces(text: str) -> list[tuple[str, str]]:
    """Return (kind, text) of every stretch."""
    return [("code" if s.is_code else "prose", text[s.start : s.end]) for s in split_fences(text)]


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
    assert split_fences("") == []


@settings(max_examples=100)
@given(st.one_of(texts(), st.text(st.sampled_from("`~\n ax"), max_size=80)))
def test_stretches_tile_the_text(text: str) -> None:
    found = split_fences(text)
    assert "".join(text[s.start : s.end] for s in found) == text
    assert has_fence(text) == any(s.is_code for s in found)
    for first, second in pairwise(found):
        assert first.end == second.start
        assert first.is_code or second.is_code


@settings(max_examples=100)
@given(st.one_of(texts(), st.text(st.sampled_from("`~a \n"), max_size=60)))
def test_lines_with_marks_are_found(text: str) -> None:
    expected = []
    start = 0
    for line in text.split("\n"):
        if "```" in line or "~~~" in line:
            expected.append((start, start + len(line)))
        start += len(line) + 1
    assert list(marked_lines(text)) == expected


@settings(max_examples=100)
@given(st.one_of(texts(), st.text(st.sampled_from("`~a \n"), max_size=60)))
def test_a_fence_is_where_code_begins(text: str) -> None:
    assert has_fence(text) == any(stretch.is_code for stretch in split_fences(text))
