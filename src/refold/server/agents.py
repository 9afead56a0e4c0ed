"""What is written into the settings of each coding agent, and where."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from refold.errors import ConfigError
from refold.private_files import data_file, home_folder
from refold.server.config_files import Entry

Agent = Literal["claude", "codex"]
Part = Literal["hook", "mcp", "proxy"]

AGENTS: Final[tuple[Agent, ...]] = get_args(Agent)
PARTS: Final[tuple[Part, ...]] = get_args(Part)
HOOK_SECONDS: Final = 30
"""Claude Code's timeout for the hook."""
_EVENT: Final = ("hooks", "PostToolUse")
_RETRIEVE: Final = "mcp__refold__refold_retrieve"
_NO_HOOK: Final = (
    "the hooks of codex cannot change what a tool returned; use --proxy, --mcp, "
    "or run it with: refold wrap -- codex"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The files of the agents, and our own."""

    claude_settings: Path
    claude_servers: Path
    codex_config: Path
    record: Path
    """Where it is written down what was installed."""
    store: Path

    @property
    def written(self) -> tuple[Path, ...]:
        """The files that are written into."""
        return self.claude_settings, self.claude_servers, self.codex_config


def find_places(platform: str, env: Mapping[str, str], project: Path | None = None) -> Places:
    """Return where things are for this user, or for one *project* as far as agents allow it."""
    home = home_folder(platform, env)
    claude = env.get("CLAUDE_CONFIG_DIR")
    store = data_file(platform, env)
    settings = Path(claude) if claude else home / ".claude"
    return Places(
        claude_settings=(project / ".claude" if project else settings) / "settings.json",
        claude_servers=(
            project / ".mcp.json"
            if project
            else (Path(claude) if claude else home) / ".claude.json"
        ),
        codex_config=(
            project / ".codex" if project else Path(env.get("CODEX_HOME") or home / ".codex")
        )
        / "config.toml",
        record=store.with_name("installed.json"),
        store=store,
    )


def own_command(*arguments: str) -> list[str]:
    """Return the command that runs this very refold.

    By its full path, for agents do not pass on the PATH; and with -P, so that no file in the folder
    where an agent works is taken for a module.
    """
    return [sys.executable, "-P", "-m", "refold", *arguments]


def entries_for(
    agent: Agent, parts: Sequence[Part], places: Places, *, port: int
) -> dict[Path, list[Entry]]:
    """Return what *parts* put into which file.

    Raises:
        ConfigError: the agent has no such part.
    """
    if agent == "codex":
        return {places.codex_config: _codex(parts, port)}
    entries: dict[Path, list[Entry]] = {}
    settings = _claude_settings(parts, port)
    if settings:
        entries[places.claude_settings] = settings
    if "mcp" in parts:
        command, *arguments = own_command("mcp")
        # Claude Code then waits for the server: a tool that turns up later breaks the prompt cache.
        server = {"type": "stdio", "command": command, "args": arguments, "alwaysLoad": True}
        entries[places.claude_servers] = [Entry(("mcpServers", "refold"), server)]
    return entries


def _claude_settings(parts: Sequence[Part], port: int) -> list[Entry]:
    entries = []
    if "hook" in parts:
        # An excerpt is for who can fetch the rest.
        profile = "standard" if "mcp" in parts else "lossless"
        command = shlex.join(own_command("hook", "post-tool-use", "--profile", profile))
        hook = {"type": "command", "command": command, "timeout": HOOK_SECONDS}
        entries.append(Entry(_EVENT, {"matcher": "*", "hooks": [hook]}, is_item=True))
    if "mcp" in parts:
        entries.append(Entry(("permissions", "allow"), _RETRIEVE, is_item=True))
    if "proxy" in parts:
        entries.append(Entry(("env", "ANTHROPIC_BASE_URL"), f"http://127.0.0.1:{port}"))
    return entries


def _codex(parts: Sequence[Part], port: int) -> list[Entry]:
    entries = []
    if "hook" in parts:
        raise ConfigError(_NO_HOOK)
    if "proxy" in parts:
        entries.append(Entry(("model_provider",), "refold"))
        provider = codex_provider(f"http://127.0.0.1:{port}")
        entries.append(Entry(("model_providers", "refold"), provider))
    if "mcp" in parts:
        command, *arguments = own_command("mcp")
        entries.append(Entry(("mcp_servers", "refold"), {"command": command, "args": arguments}))
    return entries


def codex_provider(url: str) -> dict[str, str]:
    """Return the settings of a model provider of codex that is the proxy at *url*."""
    return {
        "name": "refold",
        "base_url": f"{url}/v1",
        "env_key": "OPENAI_API_KEY",
        "wire_api": "responses",
    }
