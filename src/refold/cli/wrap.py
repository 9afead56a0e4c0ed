"""`refold wrap`: run a program behind a proxy of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import click

from refold.report.pieces import say_count

_EPILOG = """\b
Examples:
  refold wrap -- claude
  refold wrap -- codex exec "fix the tests"
  REFOLD_PROFILE=lossless refold wrap -- python agent.py

\b
The proxy is refold serve on a free port, for as long as the program runs; its
options can be set in the environment. The exit code is that of the program."""


@click.command(
    epilog=_EPILOG,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, required=True)
def command(*, program: tuple[str, ...]) -> int:
    """Run a program behind a proxy, and say what was saved."""
    from refold.server.agents import own_command
    from refold.server.wrap import run_wrapped

    ended = run_wrapped(program, os.environ, proxy=own_command("serve", "--port", "0"))
    click.echo(f"refold: {summarize(ended.stats)}", err=True)
    return ended.code


def summarize(stats: Mapping[str, Any]) -> str:
    """Return the totals of a proxy on one line."""
    if not stats.get("requests"):
        return "no request came through the proxy"
    before, after = stats["tokens_before"], stats["tokens_after"]
    share = f" ({1 - after / before:.0%} fewer)" if before else ""
    requests = say_count(stats["requests"], "request")
    said = f"{requests}, {before:,} tokens became {after:,}{share}"
    saved = (stats.get("money") or {}).get("saved")
    money = f", {saved:.4f} USD less" if saved else ""
    errors = f", {say_count(stats['errors'], 'error')}" if stats.get("errors") else ""
    return said + money + errors
