"""Rows of a list are kept by what they say, wherever they stand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from row_places import measure


@pytest.mark.campaign
def test_the_first_and_the_last_rows_are_like_those_in_the_middle() -> None:
    first, middle, last = measure(range(200), 0.3)
    assert abs(first - middle) <= 0.05
    assert abs(last - middle) <= 0.05
