"""The demo of the proxy runs, and what the provider gets is shorter."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples.serve_demo import TURNS, run_agent

from tests.server.proxy.running import proxy_for
from tests.server.upstream import ScriptedUpstream


def test_the_demo_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedUpstream() as upstream, proxy_for(upstream, tmp_path) as proxy:
        assert run_agent(proxy.url, upstream) == "Nothing is wrong with any of them."
        upstream.check_prefixes()
        assert len(upstream.requests) == TURNS + 1
        assert proxy.stats.totals.money_after < proxy.stats.totals.money_before
    *_, last = capsys.readouterr().out.splitlines()
    _, sent, got = last.replace(",", "").replace("c", "").split()
    assert int(got) < 0.7 * int(sent)
