"""What to say when the package that an integration is for is not installed."""

from __future__ import annotations


def missing(package: str, extra: str) -> ImportError:
    """Return the error to raise: it says what to install."""
    return ImportError(
        f"refold.integrations.{extra} is for {package}, which is not installed: "
        f"pip install 'refold[{extra.replace('_', '-')}]'"
    )
