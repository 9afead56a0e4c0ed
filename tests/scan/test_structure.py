"""Fenced code, JSON, and lines compared with those of another text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scan.structure import (
    bag_of,
    has_fence,
    is_json,
    jaccard,
    lines_missing_from,
    marked_lines,
    normal_lines,
    split_fences,
)
from refold.scan.view import TextView
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


def test_lines_are_trimmed_and_lowered() -> None:
    assert normal_lines("  Alpha \n\n\tBETA\n \n") == ["alpha", "beta"]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (["x", "y"], ["x", "y"], 1.0),
        (["x"], ["y"], 0.0),
        (["x", "y", "z"], ["x", "y", "w"], 0.5),
        (["x", "x"], ["x"], 0.5),
        ([], [], 1.0),
        ([], ["x"], 0.0),
    ],
)
def test_likeness(a: list[str], b: list[str], expected: float) -> None:
    assert jaccard(bag_of(a), bag_of(b)) == expected


lines = st.lists(st.sampled_from("abcd"), max_size=8)


@given(lines, lines)
def test_likeness_is_symmetric_and_a_share(a: list[str], b: list[str]) -> None:
    one, other = jaccard(bag_of(a), bag_of(b)), jaccard(bag_of(b), bag_of(a))
    assert one == other
    assert 0 <= one <= 1
    assert (one == 1) == (sorted(a) == sorted(b))


def test_the_lines_that_differ() -> None:
    text = "limit: 5000\nhost: a\nhost: a\n\nport: 1"
    assert lines_missing_from(text, "limit: 10\nhost: a\nport: 1") == ["limit: 5000", "host: a"]
    assert lines_missing_from(text, text) == []
    assert lines_missing_from("A", "a") == ["A"]


@given(lines, lines)
def test_what_differs_and_what_is_shared_make_the_text(a: list[str], b: list[str]) -> None:
    missing = lines_missing_from("\n".join(a), "\n".join(b))
    shared = bag_of(a) & bag_of(b)
    assert bag_of(missing) == bag_of(a) - shared


@pytest.mark.parametrize("text", ['{"a": 1}', "[]", ' [1, {"b": null}]\n', '{"é": "中"}'])
def test_json(text: str) -> None:
    assert is_json(text)


@pytest.mark.parametrize(
    "text", ["", "1", '"a"', "null", "{a: 1}", '{"a": 1} x', "[1,", "{}{}", "[1]]"]
)
def test_not_json(text: str) -> None:
    assert not is_json(text)


def test_json_nested_deeper_than_the_stack_does_not_end_a_run() -> None:
    assert is_json("[" * 100_000 + "]" * 100_000) in (True, False)


def test_a_view_keeps_its_forms() -> None:
    view = TextView("Ab\n\nC")
    assert view.lines == ["Ab", "", "C"]
    assert view.lower == "ab\n\nc"
    assert view.lines is view.lines
