"""Killed at any time, two writers in one store: what was shown unfolds, what was saved goes on."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from attacks.base import Area, Check
from attacks.talks import talk
from refold import Session, SqliteStore, uncompress

_BUDGET = 2_000
_LENGTH = 400


def run(scale: float, seed: int) -> Area:
    """Kill processes that talk, two into one store."""
    rng = random.Random(seed)
    shown = Check("what was shown unfolds")
    saved = Check("what was saved goes on")
    for _ in range(max(2, int(200 * scale))):
        with tempfile.TemporaryDirectory() as folder:
            talks = [rng.randrange(1_000_000) for _ in range(2)]
            talks[1] = rng.choice(talks)  # the same one, half of the time
            homes = [Path(folder) / str(number) for number in range(2)]
            _kill_both(homes, talks, rng)
            for home, conversation in zip(homes, talks, strict=True):
                _look(home, conversation, shown, saved)
    return Area("crash", [shown, saved])


def _kill_both(homes: list[Path], talks: list[int], rng: random.Random) -> None:
    """Let two processes talk, and kill them some time after they have begun."""
    children: list[subprocess.Popen[bytes]] = []
    for home, conversation in zip(homes, talks, strict=True):
        home.mkdir()
        command = [sys.executable, "-m", "attacks.crash", str(home), str(conversation)]
        children.append(subprocess.Popen(command, cwd=Path(__file__).parent.parent))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not all((home / "shown").exists() for home in homes):
        time.sleep(0.005)
    for child in children:
        time.sleep(rng.random() * 0.5)
        child.kill()
        child.wait()


def _look(folder: Path, conversation: int, shown: Check, saved: Check) -> None:
    """See what is left."""
    messages = talk(random.Random(conversation), _LENGTH, chars=300)
    with SqliteStore(folder.parent / "store.db") as store:
        note = _read(folder / "shown")
        told = messages[: note["told"]]
        is_whole = uncompress(note["view"], store).messages == told
        shown.record(not is_whole, f"{note['told']} messages of talk {conversation}")
        if (folder / "saved").exists():
            note = _read(folder / "saved")
            session = Session.resume(note["key"], store)
            is_same = session.messages == messages[: note["told"]]
            saved.record(not is_same, f"{note['told']} messages of talk {conversation}")


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _note(path: Path, what: dict[str, Any]) -> None:
    """Write all of it or nothing."""
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(what), encoding="utf-8")
    beside.replace(path)


def _talk(folder: Path, conversation: int) -> None:
    """Be the process that is killed: note each view that it has got, and each key."""
    with SqliteStore(folder.parent / "store.db") as store:
        session = Session(token_budget=_BUDGET, store=store)
        messages = talk(random.Random(conversation), _LENGTH, chars=300)
        for told, message in enumerate(messages, 1):
            session.append(message)
            _note(folder / "shown", {"told": told, "view": session.view()})
            if told % 7 == 0:
                _note(folder / "saved", {"told": told, "key": session.save(store)})


if __name__ == "__main__":
    _talk(Path(sys.argv[1]), int(sys.argv[2]))
