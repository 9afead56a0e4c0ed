"""Long runs of characters."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from refold.scan.runs import RunTest
from refold.scan.view import plain_bytes


@settings(max_examples=100)
@given(st.text(st.sampled_from("aB3_- é\n"), max_size=60))
def test_runs_are_those_of_a_pattern(text: str) -> None:
    runs = RunTest("aB3_-", 5)
    found = [match.span() for match in re.finditer("[aB3_-]{5,}", text)]
    assert list(runs.spans(plain_bytes(text))) == found
    assert runs.holds(plain_bytes(text)) == bool(found)
