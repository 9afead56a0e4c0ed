"""What to do about a message that cannot be read."""

from __future__ import annotations

from collections.abc import Mapping


def advise(value: object) -> str:
    """Say how *value*, which is no message that we can read, becomes one; nothing if unknown."""
    if isinstance(value, Mapping):
        return ""
    return "convert it with its model_dump()" if hasattr(value, "model_dump") else ""
