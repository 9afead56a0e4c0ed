"""Where a web address ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.scan.urls import trim_url


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("https://example.org/a.", "https://example.org/a"),
        ("https://example.org/a…", "https://example.org/a"),
        ("https://example.org/a'", "https://example.org/a"),
        ("https://example.org/a).", "https://example.org/a"),
        ("https://example.org/a_(b)", "https://example.org/a_(b)"),
        ("https://example.org/a_(b)),", "https://example.org/a_(b)"),
        ("https://example.org/?q=[1]}", "https://example.org/?q=[1]"),
        ("https://example.org/a/", "https://example.org/a/"),
    ],
)
def test_what_belongs_to_the_text_around_is_left_out(written: str, meant: str) -> None:
    assert trim_url(written) == meant


@given(st.text(alphabet="ab/.,;:!?'*_…()[]{}", max_size=40))
def test_only_the_end_is_trimmed_and_only_once(url: str) -> None:
    trimmed = trim_url(url)
    assert url.startswith(trimmed)
    assert trim_url(trimmed) == trimmed
