"""Claude Code itself, through hook, proxy and wrap: the same answer from fewer tokens."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from subprocess import PIPE
from urllib.parse import urlsplit

import pytest

from refold.cli import COMMANDS
from tests.clients.conftest import REFOLD, Agent
from tests.clients.programs import find_claude
from tests.clients.scripted import LOGS, expected
from tests.clients.transcript import check

pytestmark = pytest.mark.skipif(find_claude() is None, reason="needs claude: make test-clients")
needs_mcp = pytest.mark.skipif(
    importlib.util.find_spec("mcp_types") is None, reason="needs the SDK: make test-clients"
)
needs_proxy = pytest.mark.skipif(
    "serve" not in COMMANDS or importlib.util.find_spec("aiohttp") is None,
    reason="needs refold serve: make test-clients",
)


_LINES = 380
"""28,000 characters; of outputs above 30,000 Claude Code itself shows the beginning only."""


def claude(agent: Agent, *before: str, refolds: int = 0, **env: str) -> str:
    """Let Claude Code do the task; return its answer."""
    agent.write_logs(_LINES)
    allowed = ["Bash", "mcp__refold__refold_retrieve"]
    options = ["--allowedTools", ",".join(allowed), "--output-format", "json"]
    ran = agent.run(*before, find_claude(), "-p", "What went wrong?", *options, **env)
    answer: str = json.loads(ran.stdout)["result"]
    check(agent.upstream.requests, refolds=refolds)
    assert len(agent.upstream.requests) > LOGS
    return answer


def settings(agent: Agent) -> Path:
    return agent.home / ".claude" / "settings.json"


def test_without_refold(agent: Agent) -> None:
    assert claude(agent) == expected()
    assert agent.shown > 0.99


def test_the_hook_without_loss(agent: Agent) -> None:
    agent.refold("install", "claude", "--hook")
    assert claude(agent) == expected()
    assert agent.shown < 0.65
    assert agent.counts["folded"] == LOGS
    assert "failures" not in agent.counts


@needs_mcp
def test_the_hook_with_excerpts_and_retrieval(agent: Agent) -> None:
    agent.refold("install", "claude", "--hook", "--mcp")
    assert claude(agent) == expected()
    assert agent.shown < 0.5
    assert agent.counts["folded"] == LOGS
    assert agent.counts["retrieved"] == 1


def test_a_hook_that_cannot_work_is_in_nobodys_way(agent: Agent) -> None:
    agent.refold("install", "claude", "--hook")
    data = agent.home / ".local" / "share" / "refold"
    (data / "refold.db").write_bytes(b"this is no database" * 100)
    assert claude(agent) == expected()
    assert agent.shown > 0.99
    assert agent.counts["failures:StoreError"] == LOGS


@needs_proxy
def test_the_proxy(agent: Agent) -> None:
    with agent.proxy() as url:
        agent.refold("install", "claude", "--proxy", "--port", urlsplit(url).port)
        assert claude(agent, ANTHROPIC_BASE_URL="") == expected()
    assert agent.shown < 0.65


@needs_proxy
def test_the_proxy_with_a_small_window(agent: Agent) -> None:
    with agent.proxy("--budget", "60000") as url:
        answer = claude(agent, refolds=1, ANTHROPIC_BASE_URL=url)
    assert answer == expected()
    assert "retrieve_original" in str(agent.upstream.requests[-1]["messages"])


@needs_proxy
def test_wrap(agent: Agent) -> None:
    assert claude(agent, *REFOLD, "wrap", "--") == expected()
    assert agent.shown < 0.65


@needs_proxy
def test_wrap_says_what_was_saved(agent: Agent) -> None:
    agent.write_logs(_LINES)
    options = ["--allowedTools", "Bash", "--output-format", "json"]
    ran = agent.run(*REFOLD, "wrap", "--", find_claude(), "-p", "What went wrong?", *options)
    said = f"refold: {len(agent.upstream.requests)} requests"
    assert said in ran.stderr
    assert "for input (−" in ran.stderr


def test_after_a_compaction_the_past_is_put_back(agent: Agent) -> None:
    agent.write_logs(60)
    agent.refold("install", "claude", "--hook")
    options = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    command = [str(find_claude()), "-p", *options, "--allowedTools", "Bash"]
    task, wish = "What went wrong? Never touch the schema.", "Look again, please."
    with subprocess.Popen(
        command, env=agent.env, cwd=agent.work, stdin=PIPE, stdout=PIPE, text=True
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for text in (task, wish, "/compact", "Go on."):
            turn = {"type": "user", "message": {"role": "user", "content": text}}
            print(json.dumps(turn), file=running.stdin, flush=True)
            next(line for line in running.stdout if json.loads(line)["type"] == "result")
        running.stdin.close()
    last = json.dumps(agent.upstream.requests[-1]["messages"])
    assert "refold kept everything from before" in last
    put_back = last.partition("refold kept everything")[2]
    assert task in put_back
    assert wish in put_back
    assert "failures" not in agent.counts


def test_uninstall_leaves_nothing_behind(agent: Agent) -> None:
    settings(agent).parent.mkdir()
    settings(agent).write_bytes(b'{"model": "opus"}')
    agent.refold("install", "claude", "--hook")
    claude(agent)
    agent.refold("uninstall")
    assert settings(agent).read_bytes() == b'{"model": "opus"}'
