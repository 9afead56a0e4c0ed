"""`refold hook`: what coding agents call by themselves; see `refold install`."""

from __future__ import annotations

import os
import sys

import click

from refold.private_files import data_file
from refold.server.hook import MAX_TOKENS, run_hook

_EPILOG = """\b
Examples:
  refold install claude --hook
  refold hook post-tool-use --profile standard < event.json"""


@click.group(epilog=_EPILOG)
def command() -> None:
    """Answer events of coding agents; called by their hooks."""


@command.command(
    "post-tool-use",
    # Not even an unknown option may block the agent.
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.option("--profile", default="lossless", help="lossless (the default) or standard.")
@click.option(
    "--max-tokens",
    default=str(MAX_TOKENS),
    help="Most tokens of an excerpt, with --profile standard.",
)
@click.option("--store", metavar="STORE", help="Where originals go; the data folder by default.")
def post_tool_use(*, profile: str, max_tokens: str, store: str | None) -> None:
    """Shorten what a tool returned before the model sees it.

    Reads the event on standard input and writes the answer, or nothing where the output stays as it
    is. Whatever goes wrong, it exits with 0 and writes nothing; `refold doctor` shows the counts.
    """
    place = store or data_file(sys.platform, os.environ)
    answer = run_hook(sys.stdin.buffer, store=place, profile=profile, max_tokens=max_tokens)
    click.echo(answer, nl=False)
