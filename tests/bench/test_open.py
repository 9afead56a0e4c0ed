"""The open benchmark runs anywhere, and refold gives every run of it back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import FOR_EVER

SCRIPT = Path(__file__).parents[2] / "bench" / "open" / "run.py"


@pytest.mark.campaign
def test_small_run_prints_both_tables() -> None:
    command = [sys.executable, str(SCRIPT), "--runs", "1", "--shares", "30", "--parts", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=FOR_EVER, check=True)
    rows = [line.split("  ") for line in done.stdout.splitlines()]
    folded = next(row for row in rows if row[0] == "30 %" and "refold" in row)
    assert folded[-1].strip() == "100 %", done.stdout  # restored
    assert any(row[0] == 'refold, Session(token_budget="auto")' for row in rows), done.stdout
