"""A batch that is killed at any moment, and taken up again, comes to the same bytes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.batch.chats import parts, tree, write_lines
from tests.patience import FOR_EVER

KILLS = int(os.environ.get("REFOLD_KILLS", "2"))
"""`make test-batch` kills 20 times."""
RECORDS = 12 + 3 * KILLS


def start(
    tmp_path: Path, out: str, stderr: int | None = None, workers: int = 2
) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "refold", "batch", "in.jsonl", out]
    choices = ["--budget", "300", "--part-size", "4KB", "--workers", str(workers), "--quiet"]
    choices += ["--store", f"{out}.db"] if out.startswith("stored") else []
    return subprocess.Popen([*command, *choices], cwd=tmp_path, stderr=stderr)


def files_in(folder: Path) -> set[str]:
    return {name for _, _, names in os.walk(folder) for name in names}


def wait_for_work(process: subprocess.Popen[bytes], out: Path, changes: int) -> None:
    """Wait until the files of the batch have changed so many times, or it is done."""
    seen = files_in(out)
    patience = time.monotonic() + FOR_EVER
    while process.poll() is None and changes:
        assert time.monotonic() < patience
        now = files_in(out)
        changes -= now != seen
        seen = now
        time.sleep(0.005)  # leave the processor to the batch


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.campaign
@pytest.mark.parametrize("out", ["kept", "stored"])
def test_nothing_is_lost_or_done_twice(tmp_path: Path, out: str) -> None:
    write_lines(tmp_path / "in.jsonl", RECORDS)
    assert start(tmp_path, f"{out}-whole", workers=1).wait(FOR_EVER) == 0
    dice = random.Random(3)
    kills = 0
    for _ in range(KILLS):
        process = start(tmp_path, out)
        wait_for_work(process, tmp_path / out, dice.randint(1, 2 * RECORDS // KILLS))
        process.kill()
        kills += process.wait(FOR_EVER) != 0
    assert kills, "it was done before anybody could kill it"
    assert start(tmp_path, out).wait(FOR_EVER) == 0
    assert tree(tmp_path / out) == tree(tmp_path / f"{out}-whole")

    back = [sys.executable, "-m", "refold", "batch", out, "back", "--unfold", "--quiet"]
    back += ["--store", f"{out}.db"] if out == "stored" else []
    subprocess.run(back, cwd=tmp_path, check=True)
    assert parts(tmp_path / "back") == (tmp_path / "in.jsonl").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for others")
def test_an_interrupted_batch_leaves_only_whole_parts(tmp_path: Path) -> None:
    lines = write_lines(tmp_path / "in.jsonl", 40)
    process = start(tmp_path, "out", stderr=subprocess.PIPE)
    wait_for_work(process, tmp_path / "out", 8)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=FOR_EVER)
    assert (process.returncode, said.strip()) == (130, b"refold: interrupted")
    done = parts(tmp_path / "out").splitlines()
    assert len(done) < len(lines)
    assert all(json.loads(line)["refold"] for line in done)
