"""The store that the hook, the MCP server and `refold doctor` share, and the counts beside it."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from refold.private_files import data_file, make_private
from refold.stores.opening import OpenStore, is_file, open_store

_BUSY_SECONDS: Final = 2.0
"""Counting waits for another process, but no agent waits long for it; then the figure is lost."""
_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS count (name TEXT PRIMARY KEY, amount INTEGER NOT NULL)"
_ADD: Final = (
    "INSERT INTO count VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET amount = amount + "
    "excluded.amount"
)


def open_originals(store: str | os.PathLike[str]) -> OpenStore:
    """Open the store at an address; the folder of a file is made if need be, for its owner."""
    if is_file(store):
        Path(store).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return open_store(store)


def counts_beside(store: str | os.PathLike[str]) -> Path:
    """Return the file with the counts of what is kept in *store*; on a server: in the data folder.

    What a machine has counted stays on it.
    """
    is_file = "://" not in os.fspath(store)
    path = Path(store) if is_file else data_file(sys.platform, os.environ)
    return path.with_name(path.name + ".counts")


def add_counts(path: Path, amounts: Mapping[str, int]) -> None:
    """Add *amounts* to the counts; what cannot be counted is not: counting breaks nothing."""
    with suppress(sqlite3.Error, OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        make_private(path)
        with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as connection, connection:
            connection.execute(_SCHEMA)
            connection.executemany(_ADD, sorted(amounts.items()))


def read_counts(path: Path) -> dict[str, int]:
    """Return all counts by name; none where there is no file, or none that can be read."""
    if not path.exists():
        return {}
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as file:
        return {str(name): int(amount) for name, amount in file.execute("SELECT * FROM count")}
    return {}
