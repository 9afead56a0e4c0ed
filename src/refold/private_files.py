"""Files and folders that only their owner can read, from the first byte on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

OWNER_ONLY: Final = 0o600
"""Read and write for the owner, nothing for others: originals hold whatever was said."""
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


@contextmanager
def replacing(path: Path, *, folder: Path | None = None, mode: int = OWNER_ONLY) -> Iterator[Path]:
    """Lend a new file that takes the place of *path* at the end: all of it, or none if it raises.

    It is made in *folder*, by default beside *path*, for its owner alone. Before it takes its place
    it is on the disk for good, and has *mode*.
    """
    import tempfile  # not with `import refold`: it loads several modules, and only writers need it

    where = path.parent if folder is None else folder
    descriptor, name = tempfile.mkstemp(dir=where, prefix=f".{path.name[:200]}.", suffix=".tmp")
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def home_folder(platform: str, env: Mapping[str, str]) -> Path:
    """Return the user's home folder."""
    return Path(env.get("USERPROFILE" if platform == "win32" else "HOME") or Path.home())


def data_file(platform: str, env: Mapping[str, str]) -> Path:
    """Return where originals are kept unless the user says otherwise: in the user's data folder."""
    home = home_folder(platform, env)
    if platform == "win32":
        folder = Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif platform == "darwin":
        folder = home / "Library" / "Application Support"
    else:
        folder = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
    return folder / "refold" / _FILE
