"""`refold retrieve`: ask for what a fold left out, by a handle or in plain words."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any, Final

import click

from refold.cli import MISSING
from refold.cli.document import STDIO, read_document, write_text
from refold.cli.folding import find_known, open_known
from refold.cli.options import conversation_option, known_option, out_option
from refold.cli.terminal import clean, quiet_option, say, working
from refold.stores import MemoryStore, Store
from refold.tools.retrieve import retrieve_tool

_WHOLE: Final = 10**9 - 1
"""More tokens than any text has."""
_QUERY_TOKENS: Final = 2_000
"""As many as an agent is shown."""
_FOUND: Final = "[original "
"""The beginning of an answer that has the text below its first line."""

_EPILOG = """\b
Examples:
  refold retrieve '#kdbfq' small.jsonl
  refold retrieve kdbfq small.jsonl --lines 120-180
  refold retrieve small.jsonl --query 'which tests timed out?'

\b
FILE is the folded file that shows the handle. Its originals are in
--store STORE, in the file itself, or in FILE.refold.db. Without FILE, --store
STORE is searched under the name of --conversation, or for a handle of 28
letters. With --query there is no HANDLE, only FILE: the pieces of all its
originals that fit best are shown."""


@click.command(epilog=_EPILOG)
@click.argument("handle", required=False)
@click.argument("file", metavar="[FILE|-]", required=False)
@known_option
@conversation_option
@click.option("--lines", metavar="FIRST-LAST", help="Only these lines, such as 120-180.")
@click.option("--query", metavar="WORDS", help="Search all originals; give no HANDLE.")
@out_option
@quiet_option
def command(
    *,
    handle: str | None,
    file: str | None,
    store: str | None,
    conversation: str | None,
    lines: str | None,
    query: str | None,
    out: str | None,
    quiet: bool,
) -> int:
    """Fetch the text behind a handle, or search all originals."""
    if query and file:
        raise click.UsageError("give a HANDLE or a --query, not both")
    if query:
        handle, file = None, handle
    elif handle is None:
        raise click.UsageError("give a HANDLE, or --query WORDS")
    if file is None and (store is None or query):
        raise click.UsageError(
            "name the folded FILE that shows the handle, or the store with --store STORE"
        )
    wanted: dict[str, Any] = {"handle": handle, "lines": lines, "query": query}
    with ExitStack() as stack, working("searching", quiet=quiet):
        messages: list[Any] = []
        if file is None:
            known: Store | None = open_known(str(store), stack)
        else:
            document = read_document(file, conversation, quiet=quiet)
            known, messages = find_known(document, file, store, stack), document.messages
        tool = retrieve_tool(
            known or MemoryStore(),
            messages=messages,
            conversation=conversation,
            max_tokens=_QUERY_TOKENS if query else _WHOLE,
        )
        answer = tool.call({name: value for name, value in wanted.items() if value})
    if query and "\n" in answer:
        write_text(answer + "\n", out, file or STDIO)
        return 0
    title, line_feed, text = answer.partition("\n")
    if not answer.startswith(_FOUND) or not line_feed:
        say(f"refold: {clean(answer.strip('[]'))}")
        return MISSING
    say(clean(title), quiet=quiet)
    write_text(text, out, file or STDIO)
    if out is None and sys.stdout.isatty() and not text.endswith("\n"):
        click.echo()  # so that the prompt has a line of its own
    return 0
