"""Structures of a text, counted by their lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refold.plan.quality import count_structures

_LINES = ("{", "[", "{}", " [", "```", "   ```py", "    ```", "|a|b|", "|", "x|", "|x", "", "said")


@given(st.lists(st.sampled_from(_LINES), max_size=9))
def test_structures_are_counted_by_their_lines(lines: list[str]) -> None:
    fences = sum(line in ("```", "   ```py") for line in lines)
    brackets = lines.count("{") + lines.count("[")
    has_table = lines.count("|a|b|") >= 2
    assert count_structures("\n".join(lines)) == fences // 2 + brackets + has_table
