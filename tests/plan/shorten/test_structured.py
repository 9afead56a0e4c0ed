"""The output of tools, line by line."""

from __future__ import annotations

import pytest

from refold.plan.shorten.structured import (
    is_structured,
    summarize_structured,
)


@pytest.mark.parametrize("foreign", ["é", "文", "ſ"])
def test_what_is_not_ascii_is_read_alike(foreign: str) -> None:
    lines = [f"src/{name}.py:{number}: hit" for number, name in enumerate("abcabc")]
    plain, mixed = "\n".join(lines), "\n".join([*lines, foreign])
    assert is_structured(plain) is is_structured(mixed) is True
    assert summarize_structured(plain, 600) == summarize_structured(mixed, 600)
