"""Refuse what cannot be a key, the same way in every store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from refold.errors import StoreError


def check_entries(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return *entries* as a dict of its own, or say which key is not a string."""
    if not isinstance(entries, Mapping):
        raise StoreError(f"put() takes a mapping of key to value, got {type(entries).__name__}")
    return {_checked(key): value for key, value in entries.items()}


def check_keys(keys: Iterable[str]) -> list[str]:
    """Return *keys* without repeats; a lone string is refused, as its letters are not keys."""
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise StoreError(f"get() takes several keys, got {keys!r}; write get([key]) for one")
    return list(dict.fromkeys(_checked(key) for key in keys))


def _checked(key: object) -> str:
    if not isinstance(key, str):
        raise StoreError(f"a key must be a string, got {key!r}")
    return key
