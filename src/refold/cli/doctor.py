"""`refold doctor`: what is set up, what works and what does not."""

from __future__ import annotations

import os
import sys

import click

_EPILOG = """\b
Examples:
  refold doctor

\b
Exits with 1 if something that is set up does not work."""
_SIGNS = {"works": "ok", "broken": "!!", "absent": "--"}


@click.command(epilog=_EPILOG)
def command() -> int:
    """Check what is set up for coding agents."""
    from refold.cli.terminal import clean
    from refold.server.agents import find_places
    from refold.server.doctor import examine

    is_broken = False
    for check in examine(find_places(sys.platform, os.environ)):
        is_broken = is_broken or check.state == "broken"
        click.echo(clean(f"{_SIGNS[check.state]} {check.what}: {check.said}".rstrip(": ")))
    return int(is_broken)
