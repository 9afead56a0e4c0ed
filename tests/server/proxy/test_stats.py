"""What the page is fed with: figures over time, by agent and model, and advice for each fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from refold.server.proxy.figures import Totals
from refold.server.proxy.stats import History, Stats, agent_of
from tests.server.proxy.agents import Agent
from tests.server.proxy.running import proxy_for, totals_of
from tests.server.upstream import Fail, ScriptedUpstream

SOURCES = Path(__file__).parents[3] / "src" / "refold" / "server" / "proxy"


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    with ScriptedUpstream() as upstream:
        yield upstream


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("claude-cli/2.1.325 (external, cli)", "Claude Code"),
        ("codex_cli_rs/0.166.0 (Debian 12; x86_64)", "Codex"),
        ("GeminiCLI/0.61.0/gemini-2.5-pro (linux; x64)", "Gemini CLI"),
        ("QwenCode/0.24.4 (linux; x64)", "Qwen Code"),
        ("opencode/1.18.33", "OpenCode"),
        ("pip/25.1", "pip"),
        ("Anthropic/Python 0.79.0", "Anthropic/Python"),
        ("python-httpx/0.28", "python-httpx"),
        ("", "unknown"),
        ("<script>", "unknown"),
        ("a" * 9_000, "a" * 40),
    ],
)
def test_agents_go_by_what_they_call_themselves(header: str, name: str) -> None:
    assert agent_of(header) == name


def test_bars_get_longer_as_time_goes_on_and_lose_nothing() -> None:
    history = History()
    start = 1_790_000_000
    for hours in range(0, 24 * 60):
        history.add(start + 3_600 * hours, Totals(requests=1, tokens_before=10, tokens_after=4))
        made = history.to_dict()
        assert len(made["bars"]) <= 96
    assert made["seconds"] == 86_400
    assert sum(bar["requests"] for bar in made["bars"]) == 24 * 60
    assert sum(bar["tokens_before"] for bar in made["bars"]) == 10 * 24 * 60
    starts = [bar["from"] for bar in made["bars"]]
    assert starts == sorted(set(starts))
    assert all(first % 86_400 == 0 for first in starts)
    assert starts[0] <= start < starts[0] + 86_400


def test_what_was_sent_is_the_same_over_time_by_model_and_by_session(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    with proxy_for(upstream, tmp_path) as proxy:
        one, other = Agent(proxy.url), Agent(proxy.url, session="s-2")
        one.headers["user-agent"] = "claude-cli/2.1.325 (external, cli)"
        other.headers["user-agent"] = "Anthropic/Python 0.79.0"
        other.model = "nobody-knows-1"
        for _ in range(3):
            one.turn()
            other.turn()
        one.model = "claude-haiku-4-5"  # in the same session
        one.turn()
        upstream.script.append(Fail(529))
        one.ask()
        totals_of(proxy)
        stats = httpx2.get(f"{proxy.url}/stats").json()
        metrics = httpx2.get(f"{proxy.url}/metrics").text
    pairs = {(row["agent"], row["model"]): row for row in stats["models"]}
    assert set(pairs) == {
        ("Claude Code", "claude-sonnet-5"),
        ("Claude Code", "claude-haiku-4-5"),
        ("Anthropic/Python", "nobody-knows-1"),
    }
    assert pairs["Anthropic/Python", "nobody-knows-1"]["unpriced"] == 3
    assert stats["faults"] == {"provider answered 529": 1}
    assert stats["errors"] == 0, "of the proxy"
    for name in ("requests", "tokens_before", "tokens_after", "money_before", "money_after"):
        for rows in (stats["models"], stats["sessions"], stats["history"]["bars"]):
            assert sum(row[name] for row in rows) == pytest.approx(stats[name], abs=1e-5), name
        unit = "_dollars" if name.startswith("money") else ""
        assert f"\nrefold_{name}{unit}_total {stats[name]}\n" in metrics


def test_pairs_of_agent_and_model_have_a_limit() -> None:
    stats = Stats()
    for number in range(200):
        stats.add(Totals(requests=1), f"agent-{number}", "m")
    assert len(stats.models) == 51
    assert stats.models["others", ""].requests == 150


def test_the_page_has_advice_for_every_fault() -> None:
    code = "".join(path.read_text() for path in SOURCES.glob("*.py"))
    kinds = set(re.findall(r"""(?:fault|_ask)\(\s*f?"([a-z ]+)""", code))
    kinds |= set(re.findall(r'fault\("client gone" if .*? else "([a-z ]+)"\)', code))
    assert {"fold late", "not shown", "upstream unreachable", "provider answered "} <= kinds
    page = (SOURCES / "page.html").read_text()
    (table,) = re.findall(r"const ADVICE = \{(.*?)\n\};", page, re.DOTALL)
    advised = re.findall(r'^  "([a-z 0-9]+)": "', table, re.MULTILINE)
    missing = {kind for kind in kinds if not any(kind.startswith(one) for one in advised)}
    assert missing == set()
    unused = {one for one in advised if not any(one.startswith(kind.strip()) for kind in kinds)}
    assert unused == set()
