"""Files with originals: nobody else can read them, not even for a moment."""

from __future__ import annotations

import json
import os
import random
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from attacks.base import Area, Check
from attacks.talks import talk
from refold import Session, SqliteStore
from refold.summarizers import SqliteCache

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def run(scale: float, seed: int) -> Area:
    """Write stores, caches and results while somebody watches the directory."""
    rng = random.Random(seed)
    stores = Check("stores, caches and all beside them are private")
    results = Check("a result of a private file is private")
    before = os.umask(0)
    try:
        for _ in range(max(2, int(100 * scale))):
            _watched(stores, lambda folder: _write_store(folder, rng))
            _watched(results, lambda folder: _run_command(folder, rng))
    finally:
        os.umask(before)
    return Area("files", [stores, results])


def _watched(check: Check, write: Callable[[Path], None]) -> None:
    with tempfile.TemporaryDirectory() as name, _watching(Path(name)) as seen:
        write(Path(name))
    for file, mode in seen.items():
        check.record(bool(mode & _OTHERS), f"{file} has mode {mode:o}")


@contextmanager
def _watching(folder: Path) -> Iterator[dict[str, int]]:
    """Collect every permission that any file in *folder* has at any time."""
    seen: dict[str, int] = {}
    done = threading.Event()

    def look() -> None:
        while True:
            is_last = done.is_set()
            for entry in os.scandir(folder):
                try:
                    mode = stat.S_IMODE(entry.stat().st_mode)
                except OSError:  # it is gone already
                    continue
                seen[entry.name] = seen.get(entry.name, 0) | mode
            if is_last:
                return

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        done.set()
        thread.join()


def _write_store(folder: Path, rng: random.Random) -> None:
    with SqliteStore(folder / "store.db") as store, SqliteCache(folder / "cache.db") as cache:
        session = Session(token_budget=1_000, store=store)
        for message in talk(rng, 20, chars=300):
            session.append(message)
            session.view()
        session.save(store)
        cache.put("key", "text")


def _run_command(folder: Path, rng: random.Random) -> None:
    given = os.open(folder / "chat.json", os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(given, "w", encoding="utf-8") as file:
        json.dump(talk(rng, 20, chars=300), file)
    refold = [sys.executable, "-m", "refold"]
    small, again = folder / "small.json", folder / "again.json"
    how = rng.choice(([], ["--json"], ["--store", str(folder / "s.db")]))
    fold = [*refold, "compress", str(folder / "chat.json"), "-o", str(small), *how]
    subprocess.run(fold, check=True, capture_output=True)
    place = how if "--store" in how else []
    unfold = [*refold, "uncompress", str(small), "-o", str(again), *place]
    subprocess.run(unfold, check=True, capture_output=True)
