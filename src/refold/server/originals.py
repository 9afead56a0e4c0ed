"""The store that the hook, the MCP server and `refold doctor` share: a file, or any address."""

from __future__ import annotations

import os
from pathlib import Path

from refold.stores.opening import OpenStore, is_file, open_store


def open_originals(store: str | os.PathLike[str]) -> OpenStore:
    """Open the store at an address; the folder of a file is made if need be, for its owner."""
    if is_file(store):
        Path(store).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return open_store(store)
