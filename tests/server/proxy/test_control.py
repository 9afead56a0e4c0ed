"""What users control: per request, per tool, and while the proxy runs."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from click.testing import CliRunner

from refold.cli import cli
from refold.errors import ConfigError
from refold.server.proxy.settings import Settings, ToolRules
from tests.cli.conftest import Refold
from tests.server.proxy.agents import Agent, serving
from tests.server.proxy.running import log_of, proxy_for, totals_of
from tests.server.proxy.test_folding import fold, folder_in
from tests.server.upstream import ScriptedUpstream


def result_of(upstream: ScriptedUpstream, place: int = 2) -> str:
    message: Any = upstream.requests[-1].messages[place]
    content: str = message["content"][0]["content"]
    return content


def test_a_request_may_ask_for_less(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    with proxy_for(upstream, tmp_path, token_budget=1_000) as proxy:
        agent = Agent(proxy.url)
        agent.grow()
        expected = agent.raw
        agent.headers["x-refold"] = "off"
        assert agent.ask().status_code == 200
        assert upstream.requests[-1].raw == expected
        agent.headers["x-refold"] = "lossless"
        agent.grow()
        assert agent.ask().status_code == 200
        assert result_of(upstream) == log_of(60, 1), "what went out as it came stays so"
        assert result_of(upstream, 4).startswith("[reformatted #")
        agent.headers["x-refold"] = "perhaps"
        assert agent.ask().status_code == 400
        agent.headers["x-refold"] = "on"
        agent.grow()
        assert agent.ask().status_code == 200
        assert totals_of(proxy).refolds == 1
    assert all("x-refold" not in request.headers for request in upstream.requests)


@pytest.mark.parametrize(
    ("choice", "text"),
    [
        ({"exclude_tools": "Edit, read_*"}, log_of(60, 1)),
        ({"exclude_tools": "other"}, "[reformatted #"),
        ({"tool_limits": "read_*=400"}, "[part #"),
        ({"tool_limits": "other=400"}, "[reformatted #"),
    ],
)
def test_excluded_tools_and_limits(tmp_path: Path, choice: dict[str, Any], text: str) -> None:
    agent = Agent("")
    agent.grow()
    _, sent = fold(folder_in(tmp_path, **choice), agent)
    assert sent[2]["content"][0]["content"].startswith(text)


def test_excluded_results_are_not_folded_either(tmp_path: Path) -> None:
    agent, folder = Agent(""), folder_in(tmp_path, exclude_tools="read_log", token_budget=4_000)
    for _ in range(4):
        agent.grow()
        _, sent = fold(folder, agent)
    text = json.dumps(sent)
    assert all(json.dumps(log_of(60, n))[1:-1] in text for n in (1, 3, 5, 7))


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "look"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "x"},
        ),
        (
            {"type": "function_call", "call_id": "a", "name": "look"},
            {"type": "function_call_output", "call_id": "a", "output": "x"},
        ),
        (
            {"role": "model", "parts": [{"functionCall": {"name": "look"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look"}}]},
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "look"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        ),
    ],
)
def test_rules_know_the_tool_of_a_result(call: dict[str, Any], result: dict[str, Any]) -> None:
    rules = ToolRules(["lo*"], {"nothing": 1, "l?ok": 70})
    for message in (call, result):
        rules.note(message)
    assert not rules.is_excluded(call)
    assert rules.is_excluded(result)
    assert rules.limit_of(result) == 70
    assert rules.limit_of({"role": "user", "content": "look"}) is None


def test_caches_of_an_hour_are_asked_for_where_the_client_set_a_mark(
    upstream: ScriptedUpstream, tmp_path: Path
) -> None:
    mark, long = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "5m"}
    block = {"type": "text", "text": "hi"}
    body = {
        "model": "claude-sonnet-5",
        "max_tokens": 9,
        "system": [{**block, "cache_control": mark}],
        "messages": [{"role": "user", "content": [{**block, "cache_control": long}, block]}],
    }
    with proxy_for(upstream, tmp_path, ttl="1h") as proxy:
        httpx2.post(f"{proxy.url}/v1/messages", json=body, headers={"x-api-key": "k"})
    sent = upstream.requests[-1].body
    assert sent["system"][0]["cache_control"] == {**mark, "ttl": "1h"}
    assert sent["messages"] == body["messages"], "what says how long stays"


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal")
def test_settings_are_read_again_at_a_signal(upstream: ScriptedUpstream, tmp_path: Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text('profile = "standard"\nport = 1\n')
    with serving(upstream.url, tmp_path / "s.db", "--config", str(config)) as (process, url):
        agent = Agent(url)
        agent.grow()
        agent.ask()
        assert result_of(upstream).startswith("[reformatted #")
        assert process.stderr is not None
        for text, said in (
            ("exclude_tools = 7", "settings stay as they were"),
            (
                'exclude_tools = "read_log"\nprofile = "lossless"\nport = 2',
                "settings were read again",
            ),
        ):
            config.write_text(text)
            process.send_signal(signal.SIGHUP)
            assert said in process.stderr.readline()
        assert httpx2.get(f"{url}/stats").json()["settings"]["profile"] == "lossless"
        agent.grow()
        agent.ask()
    assert result_of(upstream).startswith("[reformatted #"), "what was sent stays"
    assert result_of(upstream, 4) == log_of(60, 3)


@pytest.mark.parametrize(
    "given",
    [
        {"tool_limits": "read"},
        {"tool_limits": "read=many"},
        {"ttl": "2h"},
        {"token_budget": "sometimes"},
        {"token_budget": "0"},
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Settings(**given)


def test_wrap_takes_the_options_of_serve_and_lists_its_variables(tmp_path: Path) -> None:
    runner = CliRunner()
    serve, wrap = (runner.invoke(cli, [name, "--help"]).output for name in ("serve", "wrap"))
    options = {word.strip(",") for word in serve.split() if word.startswith("--")}
    assert options - {"--host", "--port"} <= {word.strip(",") for word in wrap.split()}
    assert all(name in wrap for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "REFOLD_TTL"))
    with_option = ["wrap", "--budget", "never", "--store", str(tmp_path / "s.db"), "--"]
    ran = runner.invoke(cli, [*with_option, sys.executable, "-c", "pass"])
    assert "token_budget" in ran.output + str(ran.exception)


@pytest.mark.parametrize("before", [["serve"], ["wrap"]])
def test_workers_are_gone(refold: Refold, before: list[str]) -> None:
    ran = refold(*before, "--workers", "2", "--", "true")
    assert ran.code == 2
    assert "--workers is gone: refold serve folds in one process" in ran.err
    with pytest.raises(ConfigError, match="REFOLD_WORKERS is gone"):
        Settings.from_env({"REFOLD_WORKERS": "2"})
