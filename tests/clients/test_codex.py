"""Codex itself, through proxy and wrap: the same answer from fewer tokens."""

from __future__ import annotations

import importlib.util
import json
from urllib.parse import urlsplit

import pytest

from refold.cli import COMMANDS
from refold.scan.tokens.estimate import estimate_tokens
from refold.server.compaction import MOST_TOKENS
from tests.clients.conftest import REFOLD, Agent
from tests.clients.programs import find_codex
from tests.clients.scripted import LOGS, expected
from tests.clients.transcript import check

pytestmark = [
    pytest.mark.skipif(find_codex() is None, reason="needs codex: make test-clients"),
    pytest.mark.skipif(
        "serve" not in COMMANDS or importlib.util.find_spec("aiohttp") is None,
        reason="needs refold serve: make test-clients",
    ),
]

_LINES = 110
"""8,000 characters; of outputs above 10,000 Codex itself leaves out the middle."""
_MODEL = ("-m", "gpt-5-codex")
_OPTIONS = ("--skip-git-repo-check", "--sandbox", "danger-full-access", "--json", *_MODEL)


def codex(agent: Agent, *before: str, provider: str = "", refolds: int = 0) -> str:
    """Let Codex do the task; return its answer."""
    agent.write_logs(_LINES)
    config = agent.home / ".codex" / "config.toml"
    if provider:
        config.parent.mkdir()
        given = f'name = "mine"\nbase_url = "{provider}/v1"\nenv_key = "OPENAI_API_KEY"\n'
        config.write_text(f'model_provider = "mine"\n[model_providers.mine]\n{given}')
    ran = agent.run(*before, find_codex(), "exec", *_OPTIONS, "What went wrong?")
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    answer: str = [item["text"] for item in items if item["type"] == "agent_message"][-1]
    check(agent.upstream.requests, refolds=refolds)
    assert len(agent.upstream.requests) > LOGS
    return answer


def test_the_proxy(agent: Agent) -> None:
    assert codex(agent, provider=agent.upstream.url) == expected()
    whole = agent.shown
    agent.upstream.requests.clear()
    (agent.home / ".codex" / "config.toml").unlink()
    with agent.proxy() as url:
        agent.refold("install", "codex", "--proxy", "--port", urlsplit(url).port)
        assert codex(agent) == expected()
    assert agent.shown < 0.75 * whole


def test_wrap(agent: Agent) -> None:
    assert codex(agent, *REFOLD, "wrap", "--") == expected()
    assert agent.shown < 0.75


def test_after_a_compaction_the_past_is_put_back(agent: Agent) -> None:
    agent.write_logs(_LINES)
    agent.refold("install", "codex", "--hook")
    assert "ok codex hooks.SessionStart" in agent.refold("doctor")
    provider = {"name": "mine", "base_url": f"{agent.upstream.url}/v1", "env_key": "OPENAI_API_KEY"}
    settings = {"model_auto_compact_token_limit": 15_000, "model_provider": "mine"}
    settings |= {f"model_providers.mine.{name}": value for name, value in provider.items()}
    given = [word for item in settings.items() for word in ("-c", "{}={}".format(*item))]
    options = (*_OPTIONS, *given, "--dangerously-bypass-hook-trust")
    agent.run(find_codex(), "exec", *options, "What went wrong? Never touch the schema.")
    (text, *_) = [
        part["text"]
        for item in agent.upstream.requests[-1]["input"]
        for part in item.get("content") or ()
        if "refold kept everything" in part.get("text", "")
    ]
    assert "Never touch the schema." in text
    assert "cat 2.log" in text
    assert "<skills_instructions>" not in text
    assert estimate_tokens(text) <= MOST_TOKENS
