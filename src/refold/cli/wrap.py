"""`refold wrap`: run a program behind a proxy of its own."""

from __future__ import annotations

import os
from typing import Any

import click

from refold.cli.serve import proxy_options

_EPILOG = """\b
Examples:
  refold wrap -- claude
  refold wrap --budget 60000 -- codex exec "fix the tests"
  REFOLD_PROFILE=lossless refold wrap -- python agent.py

\b
The proxy is refold serve on a free port, for as long as the program runs. The
program finds it by ANTHROPIC_BASE_URL, OPENAI_BASE_URL and
GOOGLE_GEMINI_BASE_URL, and an agent that refold knows by what that one reads
(refold install --list); where these are set, that is where the proxy sends
requests on to. Every option can also be set in the environment:
REFOLD_PROFILE, REFOLD_TOKEN_BUDGET, REFOLD_EXCLUDE_TOOLS, REFOLD_TOOL_LIMITS,
REFOLD_TTL, REFOLD_STORE, REFOLD_RETRIEVE, REFOLD_FOLD_MS, REFOLD_CONFIG,
REFOLD_SHOW_CONTENT. The exit code is that of the program."""


@click.command(
    "wrap",
    epilog=_EPILOG,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@proxy_options
@click.argument("program", nargs=-1, type=click.UNPROCESSED, required=True)
def command(*, program: tuple[str, ...], **given: Any) -> int:
    """Run a program with a proxy of its own; show what was saved."""
    from refold.server.agents import refold_command
    from refold.server.wrap import run_wrapped

    settings = {f"REFOLD_{name.upper()}": str(value) for name, value in given.items() if value}
    proxy = refold_command("serve", "--port", "0")
    ended = run_wrapped(program, os.environ, proxy=proxy, settings=settings)
    from refold.server.proxy.stats import summarize

    click.echo("refold: " + "\n        ".join(summarize(ended.stats)), err=True)
    return ended.code
