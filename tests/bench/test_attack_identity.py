"""The campaign against what ties stand-ins to originals, on a small scale: nothing breaks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import FOR_EVER

pytestmark = pytest.mark.campaign
BENCH = Path(__file__).parents[2] / "bench"


def attack(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BENCH / "attack.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=FOR_EVER,
        check=False,
    )


@pytest.mark.parametrize("area", "handles paste forge edit order crash foreign_values".split())
def test_nothing_breaks(area: str) -> None:
    done = attack("--area", area, "--scale", "0.002")
    assert done.returncode == 0, done.stdout + done.stderr
    head, line, *rows = done.stdout.splitlines()
    assert head.split() == ["area", "check", "tried", "broken", "allowed", "share"]
    assert set(line) == {"-", " "}
    assert all(int(row.split()[-3].replace(",", "")) > 0 for row in rows)
    assert all(row.split()[-2] == "0" for row in rows)


def test_an_unknown_area_is_refused() -> None:
    done = attack("--area", "luck")
    assert done.returncode == 2
    assert "handles" in done.stderr
