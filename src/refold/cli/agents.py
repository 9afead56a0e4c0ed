"""`refold install`, `uninstall`, `doctor`, `hook` and `mcp`: around coding agents.

Everything they do is in `refold.server`, which is loaded when a command runs.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import click

from refold.checks import need
from refold.cli.options import command, help_of
from refold.cli.terminal import clean, table
from refold.private_files import data_file
from refold.server.agents import PARTS, fill, find_places, known_agents

_AGENT: Final = ("[AGENT]", "", click.Choice(list(known_agents())))
_STORE: Final = ("--store STORE", "Where originals are; the data folder by default.")
_SIGNS: Final = {"works": "ok", "broken": "!!", "absent": "--"}


@command(
    agent=_AGENT,
    hook=("--hook", "Shorten tool output as it arrives."),
    mcp=("--mcp", "Offer originals to the model."),
    proxy=("--proxy", "Send requests through refold serve."),
    service=("--service", "Keep refold serve running; for all agents."),
    port=("--port N", "The port of refold serve."),
    project=("--project", "Only for the project in this folder."),
    is_list=("--list", "Show the agents that refold knows."),
)
def install_command(
    *,
    agent: str | None,
    service: bool,
    port: int = 8787,
    project: bool,
    is_list: bool,
    **parts: bool,
) -> None:
    """Set up a coding agent to use refold; can be undone.

    Examples:
      refold install --list
      refold install claude
      refold install claude --proxy --port 8787
      refold install codex --mcp
      refold install --service

    hook     shortens what tools return before the model sees it (claude), and puts
             back what was said after a compaction (claude, codex)
    mcp      lets the model fetch originals; needs pip install 'refold[mcp]'
    proxy    sends requests through refold serve, which has to be running
    service  starts refold serve at every login
    Without a choice, claude and codex get the hook, and mcp where that is
    installed; where no settings can be written, it says what to do by hand.
    refold uninstall takes everything back.
    """
    from refold.server.install import install, install_service, start_command

    if is_list:
        agents = [one.summary for one in known_agents().values()]
        rows = [("AGENT", "INSTALL", "WRAP", "TRIED WITH"), *agents]
        click.echo("\n".join(line.strip() for line in table(rows, left=4)))
        return
    places = find_places(sys.platform, os.environ, Path.cwd() if project else None)
    if service:
        need("aiohttp", "serve", what="--service")
        written = install_service(places, port=port)
        click.echo(f"{written.what} {written.path}")
        click.echo(f"start it: {start_command(written.path)}")
        if agent is None:
            return
    if agent is None:
        raise click.UsageError("name an AGENT; refold install --list shows them")
    row = known_agents()[agent]
    chosen = [part for part in PARTS if parts[part]]
    if "mcp" in chosen:
        need("mcp", "mcp", what="--mcp")
    if not chosen and "hook" in row.parts:
        chosen = ["hook", "mcp"] if importlib.util.find_spec("mcp") else ["hook"]
    elif not chosen and row.parts:
        options = " or ".join(f"--{part}" for part in reversed(row.parts))
        raise click.UsageError(f"for {row.name}, choose {options}")
    elif not chosen:
        click.echo(f"{row.title}: {fill(row.by_hand, f'http://127.0.0.1:{port}')}")
        return
    done, has = install(row, chosen, places, port=port)
    for one in done:
        click.echo(f"{one.what} {one.path}")
    click.echo(f"{row.name} now has: {', '.join(has)}; refold uninstall undoes it")


@command(agent=_AGENT, service=("--service", "Only the service."))
def uninstall_command(*, agent: str | None, service: bool) -> None:
    """Restore the settings of coding agents byte for byte.

    Examples:
      refold uninstall
      refold uninstall codex
      refold uninstall --service
    """
    from refold.server.install import SERVICE, stop_command, uninstall

    named = [name for name in (agent, SERVICE if service else None) if name]
    done = uninstall(named or [SERVICE, *known_agents()], find_places(sys.platform, os.environ))
    for one in done:
        click.echo(f"{one.path}: {one.what}")
        if one.path.suffix in (".service", ".plist"):
            click.echo(f"if it still runs, stop it: {stop_command(one.path)}")
    if not done:
        click.echo("nothing was installed")


@command()
def doctor_command() -> int:
    """Check what is set up for coding agents.

    Examples:
      refold doctor

    Exits with 1 if something that is set up does not work.
    """
    from refold.server.doctor import examine

    is_broken = False
    for check in examine(find_places(sys.platform, os.environ)):
        is_broken = is_broken or check.state == "broken"
        click.echo(clean(f"{_SIGNS[check.state]} {check.what}: {check.detail}".rstrip(": ")))
    return int(is_broken)


_HOOK: Final = """Run a hook of a coding agent; the agent calls this.

Examples:
  refold install claude --hook
  refold hook post-tool-use --profile standard < event.json"""
hook_command = click.Group("hook", **help_of(_HOOK))
_PATIENT: Final = {"ignore_unknown_options": True, "allow_extra_args": True}
"""Not even an unknown option may block the agent."""


@command(
    hook_command,
    context=_PATIENT,
    profile=("--profile VALUE", "lossless (the default) or standard."),
    max_tokens=("--max-tokens VALUE", "Most tokens of an excerpt, with --profile standard."),
    store=_STORE,
)
def post_tool_use(*, profile: str = "lossless", max_tokens: str | None, store: str | None) -> None:
    """Shorten a tool's output before the model sees it.

    Reads the event on standard input and writes the answer, or nothing where the output stays as it
    is. Whatever goes wrong, it exits with 0 and writes nothing; `refold doctor` shows the counts.
    """
    from refold.server.hook import MAX_TOKENS, run_hook

    place, most = store or data_file(sys.platform, os.environ), max_tokens or str(MAX_TOKENS)
    answer = run_hook(sys.stdin.buffer, store=place, profile=profile, max_tokens=most)
    click.echo(answer, nl=False)


@command(hook_command, context=_PATIENT, store=_STORE)
def session_start(*, store: str | None) -> None:
    """Restore what was asked, said and planned after /compact.

    Reads the event on standard input and writes at most 1,000 tokens: a fold of the session, and
    how to ask for the rest of it. Whatever goes wrong, it exits with 0 and writes nothing.
    """
    from refold.server.compaction import run_compaction_hook

    place = store or data_file(sys.platform, os.environ)
    click.echo(run_compaction_hook(sys.stdin.buffer, store=place), nl=False)


@command(
    is_http=("--http", "Streamable HTTP instead of stdio."),
    port=(
        "--port N",
        "For --http, on the loopback interface; 0 takes a free one.",
        click.IntRange(0, 65_535),
    ),
    store=_STORE,
)
def mcp_command(*, is_http: bool, port: int = 8788, store: str | None) -> None:
    """Serve originals, shortening and counts over MCP.

    Examples:
      refold install claude --mcp
      refold mcp --http --port 8788

    Needs the official SDK: pip install 'refold[mcp]'.
    """
    from refold.server.mcp import Tools, serve_http, serve_stdio

    with closing(Tools(store or data_file(sys.platform, os.environ))) as tools:
        if is_http:
            serve_http(tools, port)
        else:
            serve_stdio(tools)
