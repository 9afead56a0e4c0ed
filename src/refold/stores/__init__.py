"""Where originals are kept: in memory, in a file that outlives the process, or on a server."""

from __future__ import annotations

from refold.stores.base import ManagedStore, Store
from refold.stores.memory import MemoryStore
from refold.stores.opening import open_store
from refold.stores.sqlite import SqliteStore

__all__ = ["ManagedStore", "MemoryStore", "SqliteStore", "Store", "open_store"]
