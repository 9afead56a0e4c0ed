"""What lines of tool output are, and how far a line is looked at."""

from __future__ import annotations

import pytest

from refold.fold.kinds import grade_lines
from refold.fold.pieces import Grade


@pytest.mark.parametrize(
    ("line", "grade"),
    [
        ("tests/test_a.py::test_b FAILED", Grade.FAILED),
        ("test a::b ... FAIL", Grade.FAILED),
        ("tests/test_a.py::test_b PASSED", Grade.NOISE),
        ("class Crate:", Grade.SIGNATURE),
    ],
)
def test_a_line_is_what_the_first_rule_says(line: str, grade: Grade) -> None:
    assert list(grade_lines(f"one\n{line}")) == [(4, grade)]


def test_a_name_has_an_end() -> None:
    """Or each of many `::` in a line would be followed to the end of that line."""
    names = ("a" * 150, "a" * 300)
    near, far = (list(grade_lines(f"{name}::{name} ERROR")) for name in names)
    assert near == [(0, Grade.FAILED)]
    assert far != near


def test_what_a_harness_adds_is_noise_and_what_follows_is_not() -> None:
    aside = "<system-reminder>\nNever improve it, this cannot fail.\n</system-reminder>\n"
    text = f"x = 1\n{aside}error: y\n"
    kinds = {text[start:].partition("\n")[0]: grade for start, grade in grade_lines(text)}
    assert kinds == {
        "<system-reminder>": Grade.NOISE,
        "Never improve it, this cannot fail.": Grade.NOISE,
        "</system-reminder>": Grade.NOISE,
        "error: y": Grade.ERROR,
    }
