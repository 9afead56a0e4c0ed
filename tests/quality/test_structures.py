"""Structures of a text, counted by their lines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.quality.structures import count_in_lines, count_structures
from tests.conversations import texts
from tests.native import needs_scanner, the_scanner

_LINES = ("{", "[", "{}", " [", "```", "   ```py", "    ```", "|a|b|", "|", "x|", "|x", "", "said")
_SIGNS = st.text(st.sampled_from("`{[| \nxé分"), max_size=30)


@given(st.lists(st.sampled_from(_LINES), max_size=9))
def test_structures_are_counted_by_their_lines(lines: list[str]) -> None:
    fences = sum(line in ("```", "   ```py") for line in lines)
    brackets = lines.count("{") + lines.count("[")
    has_table = lines.count("|a|b|") >= 2
    assert count_structures("\n".join(lines)) == fences // 2 + brackets + has_table


@needs_scanner
@settings(max_examples=500)
@given(st.one_of(texts(), _SIGNS, st.lists(st.sampled_from(_LINES)).map("\n".join)))
def test_the_scanner_counts_the_same(text: str) -> None:
    assert the_scanner().structures(text) == count_in_lines(text)


@needs_scanner
@pytest.mark.parametrize("line", _LINES)
def test_the_scanner_counts_the_same_in_every_two_lines(line: str) -> None:
    for other in _LINES:
        for text in (f"{line}\n{other}", f"{line}\n{other}\n", f"{line}{other}\n字"):
            assert the_scanner().structures(text) == count_in_lines(text), text
