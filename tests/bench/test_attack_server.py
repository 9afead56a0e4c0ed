"""The campaigns against settings of agents and the proxy, at their smallest: nothing breaks."""

from __future__ import annotations

import pytest
from tests.bench.test_attack_identity import attack

pytestmark = pytest.mark.campaign


@pytest.mark.parametrize("area", ["links", "logs", "origins", "replay"])
def test_nothing_breaks(area: str) -> None:
    done = attack("--area", area, "--scale", "0.002")
    assert done.returncode == 0, done.stdout + done.stderr
    _, _, *rows = done.stdout.splitlines()
    assert rows
    assert all(int(row.split()[-3].replace(",", "")) > 0 for row in rows)
    assert all(row.split()[-2] == "0" for row in rows)
