"""Fail unless integrations can be imported: a test that is skipped proves nothing.

python -m tests.integrations.installed langchain openai
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module


def main(names: Sequence[str]) -> int:
    """Import the integrations with these names; return how many cannot be."""
    lacking = 0
    for name in names:
        try:
            import_module(f"refold.integrations.{name}")
        except ImportError as error:
            lacking += 1
            print(f"{name}: {error}", file=sys.stderr)
    return lacking


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
