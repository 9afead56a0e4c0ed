"""The attack with bad answers breaks nothing, at a small scale."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.campaign
BENCH = Path(__file__).parents[2] / "bench"
SCRIPT = """
import dataclasses, json, sys
sys.path.insert(0, sys.argv[1])
from attacks.answers import run
area = run(0.001, 7)
print(json.dumps([{**dataclasses.asdict(check), "holds": check.holds} for check in area.checks]))
"""


def test_no_bad_answer_is_used() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(BENCH)], capture_output=True, text=True, check=True
    )
    checks = json.loads(done.stdout)
    assert len(checks) > 10
    assert all(check["tried"] for check in checks)
    assert [check for check in checks if not check["holds"]] == []
