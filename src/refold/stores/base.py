"""What a store is: a place that keeps originals under keys derived from their content."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from refold.errors import ConfigError


@runtime_checkable
class Store(Protocol):
    """Keeps JSON-like values under content-derived keys.

    A key is derived from what it addresses, so writing it twice is harmless and nothing is ever
    overwritten. Only a link to originals is named by the stand-in that has it: refold reads links
    back after it has put them, and takes another name if somebody else was there first.

    What goes in and what comes out are copies: changing either leaves the store as it was.
    A store may be used from any thread. Whatever it cannot do, it raises as `StoreError`.
    """

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep every entry, or none if it raises; a key that is already there keeps its value."""
        ...

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known of *keys*; a key that is not there is simply absent."""
        ...


def check_store(store: object) -> None:
    """Refuse what was given as a store and is none."""
    if not isinstance(store, Store):
        raise ConfigError(
            "store must have put() and get(), such as SqliteStore('originals.db'); "
            f"got {type(store).__name__}"
        )
