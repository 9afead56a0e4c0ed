"""What the hooks, the MCP server and `refold doctor` share: a store, and its counts."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from refold.private_files import data_file, make_private
from refold.stores.base import OpenStore
from refold.stores.opening import is_file, open_store

_BUSY_SECONDS: Final = 2.0
"""How long counting waits for other processes; after that the count is lost."""
_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS count (name TEXT PRIMARY KEY, amount INTEGER NOT NULL)"
_ADD: Final = (
    "INSERT INTO count VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET amount = amount + "
    "excluded.amount"
)
VIEW: Final = "refold:view:"
"""Prefix of the folded messages of a conversation: its handles are found through them."""
COMPACTED: Final = "refold:compacted:"
"""Prefix of what was put back into a conversation after it was compacted, as a text."""


def open_originals(store: str | os.PathLike[str]) -> OpenStore:
    """Open the store at an address; for a file, its folder is created if necessary."""
    if is_file(store):
        Path(store).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return open_store(store)


def counts_beside(store: str | os.PathLike[str]) -> Path:
    """Return the file with the counts for *store*; for one on a server, it is in the data folder.

    The counts of a machine stay on it.
    """
    path = Path(store) if is_file(store) else data_file(sys.platform, os.environ)
    return path.with_name(path.name + ".counts")


def add_counts(path: Path, amounts: Mapping[str, int]) -> None:
    """Add *amounts* to the counts; if that fails they are lost, and nothing else breaks."""
    with suppress(sqlite3.Error, OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_private(path)
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection, connection:
            connection.execute(_SCHEMA)
            connection.executemany(_ADD, sorted(amounts.items()))


def count_failure(store: str | os.PathLike[str], error: Exception) -> None:
    """Count that a hook failed, by the kind of *error*; `refold doctor` shows it."""
    add_counts(counts_beside(store), {"failures": 1, f"failures:{type(error).__name__}": 1})


def read_counts(path: Path) -> dict[str, int]:
    """Return all counts by name; none if there is no file, or it cannot be read."""
    if not path.exists():
        return {}
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as file:
        return {str(name): int(amount) for name, amount in file.execute("SELECT * FROM count")}
    return {}
