"""Agents that npm has, themselves: they reach the model through refold, as their row says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from refold.server.agents import known_agents
from tests.patience import FOR_EVER

pytest.importorskip("aiohttp", reason="needs refold serve: make test-agents")
from tests.server.upstream import Call, Say, ScriptedUpstream

FOLDER = Path(os.environ.get("AGENTS", "build/agents")).resolve() / "node_modules"
ASK = "What is in a.log?"
LOG = "\n".join(
    f"2026-11-16 10:{n // 60:02d}:{n % 60:02d},{n * 37 % 1000:03d} INFO worker-{n % 7} "
    f"request {1_000_000 + n * 7919} done in {n * 13 % 400} ms"
    for n in range(150)
)
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "COPILOT_PROVIDER_API_KEY")
CAT = {"command": "cat a.log", "description": "Reads the log."}


@dataclass(frozen=True)
class Client:
    """How one agent is run, without anybody at the keyboard."""

    name: str
    package: str
    words: tuple[str, ...]
    call: Call
    program: str = ""
    env: dict[str, str] = field(default_factory=dict[str, str])
    settings: tuple[str, dict[str, Any]] | None = None

    @property
    def path(self) -> Path:
        return FOLDER / (self.program or f".bin/{self.name}")


MODEL = "claude-sonnet-4-5"
CLIENTS = [
    Client(
        "gemini",
        "@google/gemini-cli",
        ("-m", "gemini-2.5-flash", "--yolo", "-p", ASK),
        Call("read_file", {"file_path": "a.log"}),
        env={"GEMINI_CLI_TRUST_WORKSPACE": "true"},
        settings=(
            ".gemini/settings.json",
            {"security": {"auth": {"selectedType": "gemini-api-key"}}},
        ),
    ),
    Client(
        "qwen",
        "@qwen-code/qwen-code",
        ("--auth-type", "openai", "--yolo", "-p", ASK),
        Call("run_shell_command", {**CAT, "is_background": False}),
        env={"OPENAI_MODEL": "gpt-5"},
    ),
    Client(
        "opencode",
        "opencode-ai",
        ("run", "--model", f"anthropic/{MODEL}", ASK),
        Call("bash", CAT),
        program="opencode-linux-x64/bin/opencode",
    ),
    Client(
        "copilot",
        "@github/copilot",
        ("--allow-all-tools", "-p", ASK),
        Call("bash", {**CAT, "command": "head -60 a.log"}),
        env={
            "COPILOT_OFFLINE": "true",
            "COPILOT_MODEL": MODEL,
            "COPILOT_PROVIDER_TYPE": "anthropic",
        },
    ),
    Client(
        "pi",
        "@mariozechner/pi-coding-agent",
        ("--provider", "anthropic", "--model", MODEL, "-p", ASK),
        Call("read", {"path": "a.log"}),
    ),
]


def run(client: Client, home: Path, url: str, *before: str, **env: str) -> str:
    """Let the agent answer in a home of its own; return what it prints."""
    work = home / "work"
    work.mkdir(exist_ok=True)
    (work / "a.log").write_text(LOG)
    if client.settings is not None:
        path, document = client.settings
        (home / path).parent.mkdir(exist_ok=True)
        (home / path).write_text(json.dumps(document))
    known = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": ":".join(sys.path)}
    urls = {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": f"{url}/v1"}
    urls |= {"GOOGLE_GEMINI_BASE_URL": url, "COPILOT_PROVIDER_BASE_URL": url}
    ran = subprocess.run(
        [*before, str(client.path), *client.words],
        env={**known, **dict.fromkeys(KEYS, "sk-fake"), **urls, **client.env, **env},
        cwd=work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=FOR_EVER,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def client(request: pytest.FixtureRequest) -> Client:
    chosen: Client = request.param
    if not chosen.path.exists():
        pytest.skip(f"needs {chosen.name}: make test-agents")
    return chosen


def test_the_row_names_the_version_that_is_tried(client: Client) -> None:
    package = json.loads((FOLDER / client.package / "package.json").read_bytes())
    assert known_agents()[client.name].tried == package["version"]


def test_requests_go_through_the_proxy(client: Client, tmp_path: Path) -> None:
    """By `refold wrap` where it sets what they read, else by what `refold install` writes."""
    refold = [sys.executable, "-m", "refold"]
    # A title for the session may be asked for first: the call is made either way.
    script: list[Say | Call] = [client.call, client.call, *[Say("It is fine.")] * 4]
    with ScriptedUpstream(*script) as upstream:
        if known_agents()[client.name].variables:
            said = run(
                client, tmp_path, upstream.url, *refold, "wrap", "--", REFOLD_FOLD_MS="60000"
            )
        else:
            said = run_behind_a_service(client, tmp_path, upstream.url)
    assert "It is fine." in said
    last = json.dumps(upstream.requests[-1].body)
    assert "worker-3" in last
    assert "INFO worker-3 request" not in last.split("worker-3", 2)[1]


def run_behind_a_service(client: Client, home: Path, url: str) -> str:
    refold = [sys.executable, "-m", "refold"]
    urls = dict.fromkeys(("REFOLD_ANTHROPIC_URL", "REFOLD_OPENAI_URL"), url)
    env = {**os.environ, **urls, "HOME": str(home), "PYTHONPATH": ":".join(sys.path)}
    env |= {"REFOLD_FOLD_MS": "60000", "XDG_DATA_HOME": str(home / "data")}
    command = [*refold, "serve", "--port", "0"]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            port = server.stdout.readline().strip().rpartition(":")[2]
            install = [*refold, "install", client.name, "--proxy", "--port", port]
            subprocess.run(install, env=env, capture_output=True, check=True)
            return run(client, home, "http://nowhere.invalid")
        finally:
            server.terminate()
