"""The attack on secrets, in small: every check holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import FOR_EVER

pytestmark = pytest.mark.campaign
BENCH = Path(__file__).parents[2] / "bench"
RUN = """
import sys
sys.path.insert(0, {bench!r})
from attacks.secrets import run
area = run(scale=0.02, seed=3)
for check in area.checks:
    print(check.name, check.tried, check.broken, check.examples)
    assert check.tried and check.holds, check
"""


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=FOR_EVER, check=False
    )


def test_every_door() -> None:
    done = python("-c", RUN.format(bench=str(BENCH)))
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_recorded_text_it_says_so(tmp_path: Path) -> None:
    done = python(str(BENCH / "redaction.py"), "--data", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SKIPPED" in done.stdout
