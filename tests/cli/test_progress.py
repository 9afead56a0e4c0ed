"""A bar on a terminal while long work goes on, and nothing of it anywhere else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from refold import MemoryStore
from refold.cli.document import parse_document
from refold.cli.folding import fold_file
from refold.cli.terminal import Progress
from tests.classic import Options
from tests.cli.session import chat, jsonl, prose


def long_file(path: Path) -> Path:
    texts = [" ".join(prose(f"room {n}-{m}") for m in range(12)) for n in range(200)]
    path.write_bytes(jsonl([{"role": "assistant", "content": text} for text in texts]))
    assert path.stat().st_size > 1_000_000
    return path


def test_the_share_of_the_work_is_told() -> None:
    progress = Progress()
    document = parse_document(jsonl(chat()).decode(), "chat.jsonl")
    fold_file(document, Options(recency_window=0), MemoryStore(), progress)
    assert progress.share is not None
    assert progress.share() == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no terminal to run in")
def test_a_bar_grows_on_a_terminal(tmp_path: Path) -> None:
    file = long_file(tmp_path / "long.jsonl")
    run = [sys.executable, "-m", "refold", "compress", str(file), "-o", str(tmp_path / "small")]
    ours, theirs = os.openpty()
    with subprocess.Popen(run, stderr=theirs, env={**os.environ, "TERM": "xterm"}) as process:
        os.close(theirs)
        shown = b""
        while piece := _read(ours):
            shown += piece
    os.close(ours)
    assert process.returncode == 0
    assert b"folding" in shown
    told = [int(share) for share in re.findall(rb"([0-9]+)%", shown)]
    assert told
    assert told == sorted(told)
    assert "200 → 5 messages" in shown.decode().splitlines()[-1]


def _read(terminal: int) -> bytes:
    """Return what was written next; a terminal that nobody writes to any more is an error."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""


def test_nothing_is_drawn_into_a_pipe(tmp_path: Path) -> None:
    file = long_file(tmp_path / "long.jsonl")
    run = [sys.executable, "-m", "refold", "compress", str(file), "-o", str(tmp_path / "small")]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert re.fullmatch(r"200 → 5 messages · .*\n", done.stderr)


def test_a_quiet_command_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "short.jsonl"
    file.write_bytes(jsonl(chat()))
    run = [sys.executable, "-m", "refold", "compress", str(file), "-o", str(tmp_path / "small")]
    quiet = subprocess.run([*run, "--quiet"], capture_output=True, text=True, check=True)
    assert quiet.stdout == quiet.stderr == ""
