"""Where originals are kept: in memory, or in a file that outlives the process."""

from __future__ import annotations

from refold.stores.base import Store
from refold.stores.memory import MemoryStore
from refold.stores.sqlite import SqliteStore

__all__ = ["MemoryStore", "SqliteStore", "Store"]
