"""Fail unless every integration can be imported: a test that is skipped proves nothing."""

from __future__ import annotations

import sys
from importlib import import_module

LIGHT = ("agno", "anthropic", "langchain", "openai", "openai_agents", "pydantic_ai")
"""The integrations whose frameworks `make test-integrations` installs."""


def main() -> int:
    """Import all of them; return how many cannot be."""
    lacking = 0
    for name in LIGHT:
        try:
            import_module(f"refold.integrations.{name}")
        except ImportError as error:
            lacking += 1
            print(f"{name}: {error}", file=sys.stderr)
    return lacking


if __name__ == "__main__":
    sys.exit(main())
