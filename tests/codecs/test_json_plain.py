"""From which length on a text of a document is shown in parts."""

from __future__ import annotations

import pytest

from refold.codecs.json_plain import LONG_TEXT, SHORT_LINES, is_long


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * LONG_TEXT, False),
        ("x" * (LONG_TEXT + 1), True),
        ("\n" + "x" * (SHORT_LINES - 1), False),
        ("\n" + "x" * SHORT_LINES, True),
    ],
    ids=["a line", "a longer line", "lines", "longer lines"],
)
def test_lines_are_long_earlier_than_one_line(text: str, expected: bool) -> None:
    assert is_long(text) is expected
