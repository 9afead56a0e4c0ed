"""`refold install`, `uninstall`, `doctor`, `hook` and `mcp`: around coding agents.

Everything they do is in `refold.server`, which is loaded when a command runs.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click

from refold.errors import ConfigError
from refold.private_files import data_file
from refold.server.agents import PARTS, fill, known_agents

_INSTALL = """\b
Examples:
  refold install --list
  refold install claude
  refold install claude --proxy --port 8787
  refold install codex --mcp
  refold install --service

\b
hook     shortens what tools return before the model sees it, and puts back
         what was said after /compact (claude)
mcp      lets the model fetch originals; needs pip install 'refold[mcp]'
proxy    sends requests through refold serve, which has to be running
service  starts refold serve at every login
Without a choice, claude gets the hook, and mcp where that is installed; where
no settings can be written, it says what to do by hand.
refold uninstall takes everything back."""

agent_choice = click.Choice(list(known_agents()))
originals_option = click.option(
    "--store", metavar="STORE", help="Where originals are; the data folder by default."
)


@click.command("install", epilog=_INSTALL)
@click.argument("agent", type=agent_choice, required=False, metavar="[AGENT]")
@click.option("--hook", is_flag=True, help="Shorten what tools return, on arrival.")
@click.option("--mcp", is_flag=True, help="Offer originals to the model.")
@click.option("--proxy", is_flag=True, help="Send requests through refold serve.")
@click.option("--service", is_flag=True, help="Keep refold serve running; for all agents.")
@click.option("--port", default=8787, show_default=True, help="The port of refold serve.")
@click.option("--project", is_flag=True, help="Only for the project in this folder.")
@click.option("--list", "is_list", is_flag=True, help="Show the agents that refold knows.")
def install_command(
    *,
    agent: str | None,
    hook: bool,
    mcp: bool,
    proxy: bool,
    service: bool,
    port: int,
    project: bool,
    is_list: bool,
) -> None:
    """Set up a coding agent to use refold; can be undone."""
    from refold.server.agents import find_places
    from refold.server.install import install, install_service, start_command

    if is_list:
        click.echo("\n".join(_draw_agents()))
        return
    places = find_places(sys.platform, os.environ, Path.cwd() if project else None)
    if service:
        _need("aiohttp", "--service needs aiohttp: pip install 'refold[serve]'")
        written = install_service(places, port=port)
        click.echo(f"{written.what} {written.path}")
        click.echo(f"start it: {start_command(written.path)}")
        if agent is None:
            return
    if agent is None:
        raise click.UsageError("name an AGENT; refold install --list shows them")
    row = known_agents()[agent]
    chosen = [part for part, is_on in zip(PARTS, (hook, mcp, proxy), strict=True) if is_on]
    if "mcp" in chosen:
        _need("mcp", "--mcp needs the official SDK: pip install 'refold[mcp]'")
    if not chosen and "hook" in row.parts:
        chosen = ["hook", "mcp"] if importlib.util.find_spec("mcp") else ["hook"]
    elif not chosen and row.parts:
        options = " or ".join(f"--{part}" for part in reversed(row.parts))
        raise click.UsageError(f"for {row.name}, choose {options}")
    elif not chosen:
        click.echo(f"{row.title}: {fill(row.by_hand, f'http://127.0.0.1:{port}')}")
        return
    done, parts = install(row, chosen, places, port=port)
    for one in done:
        click.echo(f"{one.what} {one.path}")
    click.echo(f"{row.name} now has: {', '.join(parts)}; refold uninstall takes it back")


def _need(module: str, problem: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise ConfigError(problem)


def _draw_agents() -> Iterator[str]:
    """Draw the table of agents: what can be installed, whether wrap reaches it, and who says so."""
    rows = [
        ("AGENT", "INSTALL", "WRAP", "TRIED WITH"),
        *(agent.summary for agent in known_agents().values()),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


_UNINSTALL = """\b
Examples:
  refold uninstall
  refold uninstall codex
  refold uninstall --service"""


@click.command("uninstall", epilog=_UNINSTALL)
@click.argument("agent", type=agent_choice, required=False, metavar="[AGENT]")
@click.option("--service", is_flag=True, help="Only the service.")
def uninstall_command(*, agent: str | None, service: bool) -> None:
    """Restore the settings of coding agents byte for byte."""
    from refold.server.agents import find_places
    from refold.server.install import SERVICE, stop_command, uninstall

    named = [name for name in (agent, SERVICE if service else None) if name]
    done = uninstall(named or [SERVICE, *known_agents()], find_places(sys.platform, os.environ))
    for one in done:
        click.echo(f"{one.path}: {one.what}")
        if one.path.suffix in (".service", ".plist"):
            click.echo(f"if it still runs, stop it: {stop_command(one.path)}")
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
        click.echo(clean(f"{_SIGNS[check.state]} {check.what}: {check.detail}".rstrip(": ")))
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


@hook_command.command(
    "session-start",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@originals_option
def session_start(*, store: str | None) -> None:
    """Put back what was asked, said and planned after /compact.

    Reads the event on standard input and writes at most 1,000 tokens: a fold of the session, and
    how to ask for the rest of it. Whatever goes wrong, it exits with 0 and writes nothing.
    """
    from refold.server.compaction import run_compaction_hook

    place = store or data_file(sys.platform, os.environ)
    click.echo(run_compaction_hook(sys.stdin.buffer, store=place), nl=False)


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
