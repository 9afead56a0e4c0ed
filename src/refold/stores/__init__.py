"""Where originals are kept: in memory, in a file that outlives the process, or on a server.

What is imported from here is loaded then: only some programs need SQLite.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
"""As in `typing`."""

if TYPE_CHECKING:
    from typing import Any

    from refold.stores.base import ManagedStore, Store
    from refold.stores.memory import MemoryStore
    from refold.stores.opening import open_store
    from refold.stores.sqlite import SqliteStore

_HOMES = {
    "ManagedStore": "refold.stores.base",
    "MemoryStore": "refold.stores.memory",
    "SqliteStore": "refold.stores.sqlite",
    "Store": "refold.stores.base",
    "open_store": "refold.stores.opening",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


__all__ = ["ManagedStore", "MemoryStore", "SqliteStore", "Store", "open_store"]
