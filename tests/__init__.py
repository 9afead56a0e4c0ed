"""Tests of refold; a package, so that its parts can share `tests.conversations`."""
