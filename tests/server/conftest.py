"""The command line, as in the tests of `refold.cli`."""

from tests.cli.conftest import refold

__all__ = ["refold"]
