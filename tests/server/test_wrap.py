"""A program runs behind a proxy: with its own streams, signals and exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from refold import ConfigError
from refold.server.wrap import NO_PROGRAM, Wrapped, run_wrapped
from tests.patience import FOR_EVER
from tests.server.upstream import ScriptedUpstream

ASK = (
    "import os, sys, urllib.request as u;"
    "u.build_opener(u.ProxyHandler({})).open(os.environ['ANTHROPIC_BASE_URL'] + '/v1').read();"
)


def wrap(tmp_path: Path, script: str, **env: str) -> Wrapped:
    proxy = [sys.executable, "-m", "tests.server.proxy_stub", str(tmp_path / "ended")]
    given = {**os.environ, "PYTHONPATH": ":".join(sys.path), **env}
    return run_wrapped([sys.executable, "-c", script], given, proxy=proxy)


def test_requests_go_through_the_proxy_and_are_counted(tmp_path: Path) -> None:
    ended = wrap(tmp_path, ASK * 3 + "sys.exit(7)")
    assert ended.code == 7
    assert ended.stats["requests"] == 3
    assert (tmp_path / "ended").read_text() == "ended"


def test_the_proxy_sends_on_to_where_the_program_would(tmp_path: Path) -> None:
    theirs = {"ANTHROPIC_BASE_URL": "http://gate/", "OPENAI_BASE_URL": "http://gate/v1"}
    seen = wrap(tmp_path, "", **theirs, REFOLD_GEMINI_URL="http://g").stats["env"]
    assert seen["REFOLD_ANTHROPIC_URL"] == seen["REFOLD_OPENAI_URL"] == "http://gate"
    assert seen["REFOLD_GEMINI_URL"] == "http://g"


def test_a_program_that_is_killed_ends_as_in_a_shell(tmp_path: Path) -> None:
    ended = wrap(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert ended.code == 128 + signal.SIGKILL


def test_a_program_that_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    proxy = [sys.executable, "-m", "tests.server.proxy_stub", str(tmp_path / "ended")]
    env = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    assert run_wrapped([str(tmp_path / "none")], env, proxy=proxy).code == NO_PROGRAM
    assert "cannot run" in capfd.readouterr().err
    assert (tmp_path / "ended").exists()


@pytest.mark.parametrize(
    ("proxy", "problem"),
    [
        ([sys.executable, "-c", "import sys; sys.exit('no such upstream')"], "no such upstream"),
        ([sys.executable, "-c", ""], "it says nothing"),
        (
            [sys.executable, "-c", "import sys; sys.exit('refold: no room')"],
            "^the proxy does not start: no room$",
        ),
        (["/does/not/exist"], "No such file"),
    ],
)
def test_without_a_proxy_nothing_is_run(tmp_path: Path, proxy: list[str], problem: str) -> None:
    program = [sys.executable, "-c", f"open({str(tmp_path / 'ran')!r}, 'w')"]
    with pytest.raises(ConfigError, match=problem):
        run_wrapped(program, os.environ, proxy=proxy)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_program(tmp_path: Path, number: signal.Signals) -> None:
    program = (
        f"import signal, sys; signal.signal({int(number)}, lambda *_: sys.exit(33));"
        "print('ready', flush=True); signal.pause()"
    )
    wrapper = (
        "import os, sys; from refold.server.wrap import run_wrapped;"
        f"sys.exit(run_wrapped([sys.executable, '-c', {program!r}], os.environ, "
        f"proxy=[sys.executable, '-m', 'tests.server.proxy_stub', {str(tmp_path / 'ended')!r}]"
        ").code)"
    )
    env = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    command = [sys.executable, "-c", wrapper]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.send_signal(number)
        assert running.wait(FOR_EVER) == 33
    assert (tmp_path / "ended").exists()


def run_as(tmp_path: Path, name: str, *words: str, **env: str) -> tuple[Wrapped, list[str]]:
    """Run a program called *name*, which writes down its arguments and some variables."""
    program, written = tmp_path / name, tmp_path / "written"
    names = ("OPENAI_API_BASE", "COPILOT_PROVIDER_BASE_URL", "OPENCODE_CONFIG_CONTENT")
    clouds = ("ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL")
    shown = " ".join(f'"${one}"' for one in (*names, *clouds))
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" {shown} "$@" > {written}\n')
    program.chmod(0o700)
    proxy = [sys.executable, "-m", "tests.server.proxy_stub", str(tmp_path / "ended")]
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(sys.path), **env}
    ended = run_wrapped([str(program), *words], given, proxy=proxy)
    return ended, written.read_text().splitlines()


def test_codex_is_led_by_arguments(tmp_path: Path) -> None:
    _, written = run_as(tmp_path, "codex", "exec", "go")
    assert written[5:7] == ["-c", 'model_provider="refold"']
    assert written[10].startswith('model_providers.refold.base_url="http://127.0.0.1:')
    assert written[-2:] == ["exec", "go"]


def test_each_agent_gets_its_variables(tmp_path: Path) -> None:
    gate = {"OPENAI_API_BASE": "http://gate/v1"}
    ended, written = run_as(tmp_path, "aider", **gate)
    assert written[0].startswith("http://127.0.0.1:")
    assert written[0].endswith("/v1")
    assert ended.stats["env"]["REFOLD_OPENAI_URL"] == "http://gate"
    _, written = run_as(tmp_path, "opencode")
    urls = json.loads(written[2])["provider"]
    assert urls["anthropic"]["options"]["baseURL"].startswith("http://127.0.0.1:")
    _, written = run_as(tmp_path, "opencode", OPENCODE_CONFIG_CONTENT='{"mine": 1}')
    assert written[2] == '{"mine": 1}'
    _, written = run_as(tmp_path, "copilot")
    assert written[1] == ""
    theirs = {"COPILOT_PROVIDER_TYPE": "anthropic", "COPILOT_PROVIDER_BASE_URL": "http://gate"}
    ended, written = run_as(tmp_path, "copilot", **theirs)
    assert written[1].startswith("http://127.0.0.1:")
    assert ended.stats["env"]["REFOLD_ANTHROPIC_URL"] == "http://gate"


def test_claude_code_in_a_cloud(tmp_path: Path) -> None:
    """It is refused where it signs, and sent on to where the cloud is where it does not."""
    with pytest.raises(ConfigError, match="signs what it sends to Bedrock"):
        run_as(tmp_path, "claude", CLAUDE_CODE_USE_BEDROCK="1")
    with pytest.raises(ConfigError, match="set ANTHROPIC_FOUNDRY_BASE_URL"):
        run_as(tmp_path, "claude", CLAUDE_CODE_USE_FOUNDRY="1", ANTHROPIC_FOUNDRY_RESOURCE="r")
    for name, cloud, path in (
        ("FOUNDRY", "https://r.services.ai.azure.com/anthropic", ""),
        ("VERTEX", "https://us-east5-aiplatform.googleapis.com", "/v1"),
    ):
        env = {f"CLAUDE_CODE_USE_{name}": "1", f"ANTHROPIC_{name}_BASE_URL": cloud + path}
        ended, written = run_as(tmp_path, "claude", **env)
        url = next(line for line in written if line.startswith("http://127.0.0.1:"))
        assert url.endswith(path)
        assert ended.stats["env"]["REFOLD_ANTHROPIC_URL"] == cloud


def test_at_the_end_it_says_in_four_lines_what_was_sent(tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "from tests.server.proxy.agents import Agent\n"
        "agent = Agent(os.environ['ANTHROPIC_BASE_URL'])\n"
        "for _ in range(8): agent.turn()\n"
        "sys.exit(5)\n"
    )
    with ScriptedUpstream() as upstream:
        env = {**os.environ, "PYTHONPATH": ":".join(sys.path), "ANTHROPIC_BASE_URL": upstream.url}
        env |= {"REFOLD_STORE": str(tmp_path / "s.db"), "REFOLD_FOLD_MS": "600000"}
        wrap = [sys.executable, "-m", "refold", "wrap", "--budget", "6000", "--"]
        command = [*wrap, sys.executable, "-c", program]
        ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert len(upstream.requests) == 8
    assert ran.returncode == 5
    bill, parts, cold, rest = ran.stderr.splitlines()
    price = r"\$0\.\d{4} instead of \$0\.\d{4} for input \(−?\+?\d+%, list prices of [\d-]{10}\)"
    assert re.fullmatch(rf"refold: 8 requests · [12] folds? · {price}", bill)
    assert re.search(r"shorter results −[\d,]+ · folds −[\d,]+ · written anew after folds", parts)
    assert "cold cache: 0 requests; caches of an hour (--ttl 1h) would have cost" in cold
    assert re.search(r"system prompt and tools, \d+ tokens a request · late: 0 req.* · 0 err", rest)
