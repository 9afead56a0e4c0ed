"""Files with originals: nobody else can read them, not even for a moment."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attacks.base import Area, Check
from attacks.talks import talk
from refold import Session, SqliteStore
from refold.cli import main

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_DONE = "done"
"""Beside the folders that are watched, once there is nothing more to see."""
Modes = dict[str, int]
"""File → all permissions that it was seen with."""


def run(scale: float, seed: int) -> Area:
    """Write stores, caches and results while another process watches the directory."""
    rng = random.Random(seed)
    before = os.umask(0)
    try:
        with tempfile.TemporaryDirectory() as name, _watching(Path(name)) as seen:
            for number in range(max(2, int(100 * scale))):
                for what, write in _WAYS.items():
                    folder = Path(name, f"{what}-{number}")
                    folder.mkdir()
                    write(folder, rng)
                    _look(folder, seen)
                    shutil.rmtree(folder)
    finally:
        os.umask(before)
    checks = {
        "stores": Check("stores, caches and all beside them are private"),
        "results": Check("a result of a private file is private"),
    }
    for file, mode in seen.items():
        check = checks[file.partition("-")[0]]
        check.record(bool(mode & _OTHERS), f"{file} had mode {mode:o}")
    return Area("files", list(checks.values()))


@contextmanager
def _watching(root: Path) -> Iterator[Modes]:
    """Let another process look at all files below *root* until this is left; it is never idle."""
    seen: Modes = {}
    command = [sys.executable, "-m", "attacks.files", str(root)]
    with subprocess.Popen(
        command, cwd=Path(__file__).parent.parent, stdout=subprocess.PIPE
    ) as watcher:
        assert watcher.stdout is not None, "asked for"
        watcher.stdout.readline()  # it has begun
        yield seen
        (root / _DONE).touch()
        for file, mode in json.loads(watcher.stdout.read()).items():
            seen[file] = seen.get(file, 0) | mode


def _watch(root: Path) -> Modes:
    """Collect every permission that any file below *root* has at any time."""
    seen: Modes = {}
    while not (root / _DONE).exists():
        for folder in os.scandir(root):
            with suppress(OSError):  # it is gone already
                _look(Path(folder.path), seen)
    return seen


def _look(folder: Path, seen: Modes) -> None:
    for entry in os.scandir(folder):
        with suppress(OSError):
            name = f"{folder.name}/{entry.name}"
            seen[name] = seen.get(name, 0) | stat.S_IMODE(entry.stat().st_mode)


def _write_store(folder: Path, rng: random.Random) -> None:
    with SqliteStore(folder / "store.db") as store:
        session = Session(token_budget=1_000, store=store)
        for message in talk(rng, 20, chars=300):
            session.append(message)
            session.view()
        session.save(store)


def _run_command(folder: Path, rng: random.Random) -> None:
    given = os.open(folder / "chat.json", os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(given, "w", encoding="utf-8") as file:
        json.dump(talk(rng, 20, chars=300), file)
    small, again = folder / "small.json", folder / "again.json"
    how = rng.choice(([], ["--json"], ["--store", str(folder / "s.db")]))
    _refold("compress", str(folder / "chat.json"), "-o", str(small), "-q", *how)
    place = how if "--store" in how else []
    _refold("uncompress", str(small), "-o", str(again), "-q", *place)


def _refold(*arguments: str) -> None:
    """Run a command in this process: to start one takes longer than all that is watched here."""
    code = main(arguments)
    if code:
        raise RuntimeError(f"refold {' '.join(arguments)} ended with {code}")


_WAYS: dict[str, Callable[[Path, random.Random], None]] = {
    "stores": _write_store,
    "results": _run_command,
}

if __name__ == "__main__":
    print("watching", flush=True)
    print(json.dumps(_watch(Path(sys.argv[1]))))
