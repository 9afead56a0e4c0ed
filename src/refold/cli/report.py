"""`refold report`: one page that shows what a fold keeps, drops, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from refold.cli.document import STDIO, check_out, locating_errors, write_text
from refold.cli.folding import opened
from refold.cli.options import make_options, preview_options
from refold.cli.terminal import quiet_option, say
from refold.report import render

_SUFFIX: Final = ".report.html"

_EPILOG = """\b
Examples:
  refold report session.jsonl
  refold report session.jsonl -o report.html --budget 30%

\b
The page needs no network and sends nothing anywhere, but it holds the whole
conversation: anyone who gets it can read everything."""


@click.command(epilog=_EPILOG)
@preview_options
@click.option("-o", "--output", "out", metavar="OUT", help=f"Write here instead of FILE{_SUFFIX}.")
@click.option("--title", metavar="TEXT", help="The title of the page; the name of FILE by default.")
@quiet_option
def command(
    *,
    file: str,
    out: str | None,
    title: str | None,
    store: str | None,
    conversation: str | None,
    quiet: bool,
    **choices: Any,
) -> None:
    """Write one page that shows what a fold keeps, drops, and why."""
    options = make_options(**choices)
    if out is None:
        out = STDIO if file == STDIO else f"{Path(file).name}{_SUFFIX}"
    check_out(None if out == STDIO else out, store)
    title = title or ("Conversation" if file == STDIO else Path(file).name)
    with (
        opened(file, store, conversation, quiet=quiet) as (document, copy, _),
        locating_errors(document),
    ):
        page = render(
            document.messages, options, title=title, store=copy, conversation=conversation
        )
    write_text(page, out, file)
    if out != STDIO:
        say(f"{out}: open it in a browser", quiet=quiet)
