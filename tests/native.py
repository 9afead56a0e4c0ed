"""The scanner in C, for the tests that hold it against plain Python."""

from __future__ import annotations

import pytest

from refold.native import Scanner, scanner

needs_scanner = pytest.mark.scanner
"""Holds the scanner against plain Python; `conftest.py` leaves these out where it is not built."""


def the_scanner() -> Scanner:
    assert scanner is not None
    return scanner
