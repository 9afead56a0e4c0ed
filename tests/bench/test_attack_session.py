"""The attacks on what is saved: none of them breaks a promise, at a small scale.

That of `growth` has no small scale; `tests/conversation/test_growth.py` says the same of one
session.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.campaign
BENCH = Path(__file__).parents[2] / "bench"
RUN = """
import sys
from importlib import import_module
area = import_module(f"attacks.{sys.argv[1]}").run(0.01, 3)
for check in area.checks:
    print(check)
assert all(check.tried and check.holds for check in area.checks)
"""


@pytest.mark.parametrize("area", ["crash", "files", "flips", "interrupts"])
def test_no_promise_is_broken(area: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, area], cwd=BENCH, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
