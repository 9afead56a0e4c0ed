"""JSON, and lines compared with those of another text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.scan.structure import (
    bag_of,
    is_json,
    jaccard,
    lines_missing_from,
    normal_lines,
)


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
