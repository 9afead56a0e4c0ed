"""Files and folders that only their owner can read, from the first byte on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

OWNER_ONLY: Final = 0o600
_FILE: Final = "refold.db"


def make_private(path: Path) -> None:
    """Create the file at *path*, for its owner alone; also one that is there and empty.

    A file with something in it keeps its mode: somebody may share it on purpose. What SQLite writes
    beside a database has the mode of the database. Whatever fails here is left for whoever opens
    the file, who knows what to say.
    """
    with suppress(OSError, ValueError):  # ValueError: a NUL in the path
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
        try:
            if os.fstat(descriptor).st_size == 0:
                path.chmod(OWNER_ONLY)
        finally:
            os.close(descriptor)


def data_file(platform: str, env: Mapping[str, str]) -> Path:
    """Return where originals are kept unless the user says otherwise: in the user's data folder."""
    home = Path(env.get("USERPROFILE" if platform == "win32" else "HOME") or Path.home())
    if platform == "win32":
        folder = Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        folder = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
    return folder / "refold" / _FILE
