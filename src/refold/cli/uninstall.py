"""`refold uninstall`: take back what `refold install` wrote."""

from __future__ import annotations

import os
import sys

import click

_EPILOG = """\b
Examples:
  refold uninstall
  refold uninstall codex"""


@click.command(epilog=_EPILOG)
@click.argument("agent", type=click.Choice(["claude", "codex"]), required=False)
def command(*, agent: str | None) -> None:
    """Restore the settings of coding agents byte for byte."""
    from refold.server.agents import AGENTS, find_places, uninstall

    names = [name for name in AGENTS if agent in (None, name)]
    done = uninstall(names, find_places(sys.platform, os.environ))
    for one in done:
        click.echo(f"{one.path}: {one.what}")
    if not done:
        click.echo("nothing was installed")
