"""`refold report`: one page that shows what a fold keeps, drops, and why."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import click

from refold.cli.document import STDIO, check_out, locating_errors, read_document, write_text
from refold.cli.folding import open_for_preview
from refold.cli.options import make_options, preview_options
from refold.cli.terminal import quiet_option, say, working
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
    document = read_document(file, conversation, quiet=quiet)
    title = title or ("Conversation" if file == STDIO else Path(file).name)
    with ExitStack() as stack, working("folding", chars=len(document.text()), quiet=quiet):
        known = open_for_preview(document, file, store, stack)
        with locating_errors(document):
            page = render(
                document.messages, options, title=title, store=known, conversation=conversation
            )
    write_text(page, out, file)
    if out != STDIO:
        say(f"{out}: open it in a browser", quiet=quiet)
