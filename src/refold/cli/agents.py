"""`refold install`, `uninstall`, `doctor`, `hook` and `mcp`: around coding agents.

Everything they do is in `refold.server`, which is loaded when a command runs.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import closing
from pathlib import Path

import click

from refold.errors import ConfigError
from refold.private_files import data_file

_INSTALL = """\b
Examples:
  refold install claude
  refold install claude --proxy --port 8787
  refold install codex --mcp

\b
hook   shortens what tools return before the model sees it (claude)
mcp    lets the model fetch originals; needs pip install 'refold[mcp]'
proxy  sends requests through refold serve, which has to be running
Without a choice, claude gets the hook, and mcp where that is installed.
refold uninstall takes everything back."""

agent_choice = click.Choice(["claude", "codex"])
originals_option = click.option(
    "--store", metavar="STORE", help="Where originals are; the data folder by default."
)


@click.command("install", epilog=_INSTALL)
@click.argument("agent", type=agent_choice)
@click.option("--hook", is_flag=True, help="Shorten what tools return, on arrival.")
@click.option("--mcp", is_flag=True, help="Offer originals to the model.")
@click.option("--proxy", is_flag=True, help="Send requests through refold serve.")
@click.option("--port", default=8787, show_default=True, help="The port of refold serve.")
@click.option("--project", is_flag=True, help="Only for the project in this folder.")
def install_command(
    *, agent: str, hook: bool, mcp: bool, proxy: bool, port: int, project: bool
) -> None:
    """Set up a coding agent to use refold; can be undone."""
    from refold.server.agents import AGENTS, PARTS, find_places, install

    chosen = {"hook": hook, "mcp": mcp, "proxy": proxy}
    can_serve = importlib.util.find_spec("mcp") is not None
    if mcp and not can_serve:
        raise ConfigError("--mcp needs the official SDK: pip install 'refold[mcp]'")
    if not any(chosen.values()):
        if agent == "codex":
            raise click.UsageError("for codex, choose --proxy or --mcp")
        chosen = {"hook": True, "mcp": can_serve, "proxy": False}
    name = next(known for known in AGENTS if known == agent)
    places = find_places(sys.platform, os.environ, Path.cwd() if project else None)
    done, parts = install(name, [part for part in PARTS if chosen[part]], places, port=port)
    for one in done:
        click.echo(f"{one.what} {one.path}")
    click.echo(f"{agent} now has: {', '.join(parts)}; refold uninstall takes it back")


_UNINSTALL = """\b
Examples:
  refold uninstall
  refold uninstall codex"""


@click.command("uninstall", epilog=_UNINSTALL)
@click.argument("agent", type=agent_choice, required=False)
def uninstall_command(*, agent: str | None) -> None:
    """Restore the settings of coding agents byte for byte."""
    from refold.server.agents import AGENTS, find_places, uninstall

    names = [name for name in AGENTS if agent in (None, name)]
    done = uninstall(names, find_places(sys.platform, os.environ))
    for one in done:
        click.echo(f"{one.path}: {one.what}")
    if not done:
        click.echo("nothing was installed")


_DOCTOR = """\b
Examples:
  refold doctor

\b
Exits with 1 if something that is set up does not work."""
_SIGNS = {"works": "ok", "broken": "!!", "absent": "--"}


@click.command("doctor", epilog=_DOCTOR)
def doctor_command() -> int:
    """Check what is set up for coding agents."""
    from refold.cli.terminal import clean
    from refold.server.agents import find_places
    from refold.server.doctor import examine

    is_broken = False
    for check in examine(find_places(sys.platform, os.environ)):
        is_broken = is_broken or check.state == "broken"
        click.echo(clean(f"{_SIGNS[check.state]} {check.what}: {check.said}".rstrip(": ")))
    return int(is_broken)


_HOOK = """\b
Examples:
  refold install claude --hook
  refold hook post-tool-use --profile standard < event.json"""


@click.group("hook", epilog=_HOOK)
def hook_command() -> None:
    """Run a hook of a coding agent, which calls this itself."""


@hook_command.command(
    "post-tool-use",
    # Not even an unknown option may block the agent.
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.option("--profile", default="lossless", help="lossless (the default) or standard.")
@click.option("--max-tokens", help="Most tokens of an excerpt, with --profile standard.")
@originals_option
def post_tool_use(*, profile: str, max_tokens: str | None, store: str | None) -> None:
    """Shorten what a tool returned before the model sees it.

    Reads the event on standard input and writes the answer, or nothing where the output stays as it
    is. Whatever goes wrong, it exits with 0 and writes nothing; `refold doctor` shows the counts.
    """
    from refold.server.hook import MAX_TOKENS, run_hook

    place, most = store or data_file(sys.platform, os.environ), max_tokens or str(MAX_TOKENS)
    answer = run_hook(sys.stdin.buffer, store=place, profile=profile, max_tokens=most)
    click.echo(answer, nl=False)


_MCP = """\b
Examples:
  refold install claude --mcp
  refold mcp --http --port 8788

\b
Needs the official SDK: pip install 'refold[mcp]'."""


@click.command("mcp", epilog=_MCP)
@click.option("--http", "is_http", is_flag=True, help="Streamable HTTP instead of stdio.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8788,
    show_default=True,
    help="For --http, on the loopback interface; 0 takes a free one.",
)
@originals_option
def mcp_command(*, is_http: bool, port: int, store: str | None) -> None:
    """Serve originals, shortening and counts over MCP."""
    from refold.server.mcp import Tools, serve_http, serve_stdio

    with closing(Tools(store or data_file(sys.platform, os.environ))) as tools:
        if is_http:
            serve_http(tools, port)
        else:
            serve_stdio(tools)
