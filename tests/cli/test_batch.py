"""`refold batch`: folders in, folders out, and a table of what became of them."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from refold import open_store
from tests.batch.chats import parts, write_lines
from tests.cli.conftest import Refold

FIXED = ("--workers", "1")


def test_a_batch_folds_and_unfolds(refold: Refold, tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 4)
    run = refold("batch", "in.jsonl", "out", "--budget", "300", "--price", "3", *FIXED)
    assert run.code == 0
    table = run.out.decode()
    assert "4 in 1 part" in table
    for word in ("tokens", "saves", "kept", "bytes", "CPU time", "slowest", "in.jsonl, line "):
        assert word in table
    run = refold("batch", "out", "back", "--unfold", *FIXED)
    assert run.code == 0
    assert parts(tmp_path / "back") == (tmp_path / "in.jsonl").read_bytes()


def test_keys_of_the_environment_encrypt_what_every_worker_puts(
    refold: Refold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    write_lines(tmp_path / "in.jsonl", 4)
    monkeypatch.setenv("REFOLD_STORE_KEYS", base64.b64encode(bytes(32)).decode())
    stored = ("--store", "all.db", "--workers", "2")
    assert refold("batch", "in.jsonl", "out", "--part-size", "4KB", *stored).code == 0
    with open_store("all.db", keys=()) as plain:
        values = plain.get([entry.key for entry in plain.entries()]).values()
        assert values
        assert all(str(value).startswith("sealed:") for value in values)
    assert refold("batch", "out", "back", "--unfold", *stored).code == 0
    assert parts(tmp_path / "back") == (tmp_path / "in.jsonl").read_bytes()
    monkeypatch.delenv("REFOLD_STORE_KEYS")
    assert refold("batch", "out", "none", "--unfold", *stored).code != 0


def test_figures_come_as_json(refold: Refold, tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 3)
    run = refold("batch", "in.jsonl", "out", "--budget", "50%", "--price", "3", "--json", *FIXED)
    figures = json.loads(run.out)
    assert figures["records"] == 3
    assert figures["tokens_after"] <= figures["tokens_before"] / 2
    assert figures["saved_usd"] == pytest.approx(figures["tokens_saved"] * 3 / 1e6)


def test_records_that_were_set_aside_have_an_exit_code(refold: Refold, tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 2)
    with (tmp_path / "in.jsonl").open("a") as file:
        file.write("broken\n")
    run = refold("batch", "in.jsonl", "out", *FIXED)
    assert run.code == 5
    assert "1 (1 FormatError)" in run.out.decode()
    assert "1 record set aside in out" in run.err


def test_what_is_done_is_said(refold: Refold, tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 1)
    assert "nothing left" not in refold("batch", "in.jsonl", "out").err
    assert "there was nothing left to do" in refold("batch", "in.jsonl", "out").err


def test_quiet_says_nothing(refold: Refold, tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 2)
    run = refold("batch", "in.jsonl", "out", "--quiet", *FIXED)
    assert (run.code, run.out, run.err) == (0, b"", "")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("in.jsonl",), 2, "IN... OUT"),
        (("in.jsonl", "out", "--part-size", "big"), 2, "64MB"),
        (("in.jsonl", "out", "--part-size", "0"), 2, "64MB"),
        (("in.jsonl", "out", "--address", "auto"), 2, "--engine"),
        (("in.jsonl", "out", "--engine", "slurm"), 2, "slurm"),
        (("none.jsonl", "out"), 1, "none.jsonl: no such file"),
        (("in.jsonl", "."), 1, "is not empty"),
        (("in.jsonl", "in.jsonl"), 1, "cannot write to 'in.jsonl': it is not a folder; name one"),
    ],
)
def test_what_is_wrong_is_said(
    refold: Refold, tmp_path: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    write_lines(tmp_path / "in.jsonl", 1)
    run = refold("batch", *arguments)
    assert run.code == code
    assert says in run.err


@pytest.mark.skipif(sys.platform == "win32", reason="no terminal to run in")
def test_a_terminal_sees_rate_and_time_left(tmp_path: Path) -> None:
    write_lines(tmp_path / "in.jsonl", 60)
    run = [sys.executable, "-m", "refold", "batch", "in.jsonl", "out", "--workers", "1"]
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*run, "--part-size", "4KB"], cwd=tmp_path, stderr=theirs, stdout=subprocess.DEVNULL
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                data = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            shown += data
        assert process.wait() == 0
    os.close(ours)
    text = shown.decode()
    for word in ("folding", "%", " s left"):
        assert word in text
