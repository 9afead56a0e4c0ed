"""Marks say how much is shown, and how to get the rest."""

from __future__ import annotations

import pytest

from refold.stages.tags import part_tag, spell_amount


@pytest.mark.parametrize(
    ("percent", "mark"), [(0, "[… #kdbfqa]"), (9, "[… #kdbfqa]"), (10, "[…10% #kdbfqa]")]
)
def test_a_mark_tells_the_share_from_a_tenth_on(percent: int, mark: str) -> None:
    assert part_tag("The lamp", percent, "kdbfqa") == f"{mark}\nThe lamp"
    assert part_tag("", percent, "kdbfqa") == mark


@pytest.mark.parametrize("percent", [0, 9, 10])
def test_a_mark_without_a_handle_always_tells_the_share(percent: int) -> None:
    assert part_tag("The lamp", percent) == f"[…{percent}%]\nThe lamp"


def test_behind_a_mark_stands_how_many_errors_are_left_out() -> None:
    assert part_tag("The lamp", 12, "kdbfqa", 1) == "[…12% #kdbfqa] 1 error left out\nThe lamp"
    assert part_tag("", 0, "kdbfqa", 7) == "[… #kdbfqa] 7 errors left out"


@pytest.mark.parametrize(
    ("count", "spelling"),
    [
        (7, "7"),
        (99, "99"),
        (149, "1 hundred"),
        (150, "2 hundred"),
        (9_949, "99 hundred"),
        (9_950, "10 thousand"),
        (99_499, "99 thousand"),
        (250_000, "3 hundred thousand"),
    ],
)
def test_an_amount_never_looks_like_a_value(count: int, spelling: str) -> None:
    assert spell_amount(count) == spelling
