"""Tests of `refold.server`."""
