"""Both forms, each in a process of its own, on the same texts: not a byte may differ."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import refold
from refold.native import scanner

ROOT = Path(__file__).parents[2]
PROBE = Path(__file__).with_name("probe.py")

needs_wheel = pytest.mark.skipif(
    scanner is None or Path(refold.__file__).is_relative_to(ROOT / "src"),
    reason="only where a wheel with the scanner is installed: make test-compiled",
)


def _say(**environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(PROBE)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@needs_wheel
def test_compiled_says_what_interpreted_says() -> None:
    compiled = _say()
    interpreted = _say(PYTHONPATH=str(ROOT / "src"))
    assert (compiled[0], interpreted[0]) == ("compiled", "interpreted")
    assert len(compiled) == len(interpreted) > 1_000
    for place, (one, other) in enumerate(zip(compiled[1:], interpreted[1:], strict=True)):
        assert one == other, f"line {place}"
