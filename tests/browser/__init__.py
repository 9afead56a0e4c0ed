"""Tests of pages in a real browser: `make test-browser`."""
