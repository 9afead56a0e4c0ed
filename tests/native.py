"""The scanner in C, for the tests that hold it against plain Python."""

from __future__ import annotations

import pytest

from refold.native import Scanner, scanner

needs_scanner = pytest.mark.skipif(
    scanner is None, reason="the scanner in C is not built here: make test-compiled"
)


def the_scanner() -> Scanner:
    assert scanner is not None
    return scanner
