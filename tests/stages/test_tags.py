"""Marks say how much is shown, and how to get the rest."""

from __future__ import annotations

import pytest

from refold.stages.tags import part_tag


@pytest.mark.parametrize(
    ("percent", "mark"), [(0, "[… #kdbfqa]"), (9, "[… #kdbfqa]"), (10, "[…10% #kdbfqa]")]
)
def test_a_mark_tells_the_share_from_a_tenth_on(percent: int, mark: str) -> None:
    assert part_tag("The lamp", percent, "kdbfqa") == f"{mark}\nThe lamp"
    assert part_tag("", percent, "kdbfqa") == mark


@pytest.mark.parametrize("percent", [0, 9, 10])
def test_a_mark_without_a_handle_always_tells_the_share(percent: int) -> None:
    assert part_tag("The lamp", percent) == f"[…{percent}%]\nThe lamp"
