"""What the hook, the MCP server and `refold doctor` share: a store, its handles and its counts."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

from refold.messages.wire import digest, letters_of, spell
from refold.notation.marks import ANCHOR_CHARS, HANDLE_CHARS, show_handle
from refold.private_files import data_file, make_private
from refold.stores.base import OpenStore, Store
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
_SHOWN: Final = "refold:shown:"
_HANDLE: Final = re.compile(rf"#([a-z]{{{HANDLE_CHARS},36}})\b")
_MOST: Final = 4
"""The most originals behind one handle; of more that share it, the first are found."""


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


def enter_shown(store: Store, folded: Mapping[str, Any], original: Mapping[str, Any]) -> None:
    """Record that *folded*, a message as it is sent, stands for *original*, which is in *store*.

    A short handle is found only through the messages that show it, which an MCP server never sees.
    So the proxy records which original is behind which handle, for the server to look up. If two
    texts share a short handle, both are found.
    """
    _enter(store, folded, digest(original))


def enter_fold(store: Store, folded: Mapping[str, Any], fold: str) -> None:
    """Record the same of a *folded* message that stands for several: those of a *fold*.

    What it shows leads to its longest handle, which leads to the fold by itself.
    """
    from refold.messages.manifest import handle_key  # loads all formats, which the hook never needs

    whole = letters_of(fold, ANCHOR_CHARS)
    store.put({handle_key("", whole): fold})
    _enter(store, folded, show_handle(whole))


def _enter(store: Store, folded: Mapping[str, Any], own: str) -> None:
    entries = {}
    for handle in dict.fromkeys(_HANDLE.findall(spell(folded))):
        places = _places(handle)
        known = store.get(places)
        free = next((place for place in places if place not in known), None)
        if free is not None and own not in known.values():
            entries[free] = own
    if entries:
        store.put(entries)


def find_shown(store: Store, handle: str) -> list[dict[str, Any]]:
    """Return the originals behind *handle*, however a model spelled it, with it as their id."""
    found: list[dict[str, Any]] = []
    for name in _names_in(handle):
        keys = store.get(_places(name)).values()
        found += ({**original, "id": name} for original in store.get(keys).values())
    return found


def find_folds(store: Store, handle: str) -> list[str]:
    """Return the longest handles of the folds of several messages behind *handle*."""
    names = _names_in(handle)
    entered = store.get([place for name in names for place in _places(name)]).values()
    return [whole for whole in entered if _HANDLE.fullmatch(whole)]


def _names_in(handle: str) -> list[str]:
    spelled = handle if "#" in handle else show_handle(handle.strip())
    return list(dict.fromkeys(_HANDLE.findall(spelled)))


def _places(handle: str) -> list[str]:
    return [f"{_SHOWN}{handle}:{n}" for n in range(_MOST)]
