"""`refold install`: write into the settings of a coding agent."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import click

_EPILOG = """\b
Examples:
  refold install claude
  refold install claude --proxy --port 8787
  refold install codex --mcp
  refold uninstall

\b
hook   shortens what tools return before the model sees it (claude)
mcp    lets the model fetch originals; needs pip install 'refold[mcp]'
proxy  sends requests through refold serve, which has to be running
Without a choice, claude gets the hook, and mcp where that is installed."""


@click.command(epilog=_EPILOG)
@click.argument("agent", type=click.Choice(["claude", "codex"]))
@click.option("--hook", is_flag=True, help="Shorten what tools return, on arrival.")
@click.option("--mcp", is_flag=True, help="Offer originals to the model.")
@click.option("--proxy", is_flag=True, help="Send requests through refold serve.")
@click.option("--port", default=8787, show_default=True, help="The port of refold serve.")
@click.option("--project", is_flag=True, help="Only for the project in this folder.")
def command(*, agent: str, hook: bool, mcp: bool, proxy: bool, port: int, project: bool) -> None:
    """Set up a coding agent to use refold; can be undone."""
    from refold.errors import ConfigError
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
