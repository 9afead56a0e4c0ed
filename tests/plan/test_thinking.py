"""Whose thinking is checked by its provider, and so must go behind a change."""

from __future__ import annotations

import pytest

from refold.messages.provider import is_bound, is_checked


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (None, True),
        ("claude", True),
        ("claude-opus", True),
        ("claude-opus-5-5", True),
        ("claude-opus-5-4", False),
        ("claude-fable-5.1", True),
        ("claude-fable-5", False),
        ("claude-3-opus-20240229", False),
        ("claude-2.1", False),
        ("gpt-5", False),
    ],
)
def test_thinking_is_bound_with_the_newest_models_and_unknown_ones(
    model: str | None, expected: bool
) -> None:
    assert is_bound(model) is expected
    assert is_checked("auto", model) is expected
    assert is_checked("strip", model)
    assert not is_checked("keep", model)
