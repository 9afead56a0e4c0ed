"""`refold uncompress`: put the originals back."""

from __future__ import annotations

from contextlib import ExitStack

import click

from refold.cli import MISSING
from refold.cli.files import check_out, find_originals, read_document, write_text
from refold.cli.folding import UnfoldedFile, unfold_file
from refold.cli.options import conversation_option, file_argument, known_option, out_option
from refold.cli.terminal import clean, count_of, quiet_option, say, working
from refold.messages.json_style import Style
from refold.stores.opening import KEYS, without_secrets

_EPILOG = """\b
Examples:
  refold uncompress small.jsonl -o chat.jsonl
  refold uncompress small.json --store originals.db > chat.json
  refold uncompress small.json --store all.db --conversation ann
  refold uncompress small.jsonl --json | jq .missing_ids
  refold compress chat.json --json | refold uncompress -

\b
Originals come from --store STORE, or from the document itself (as written by
compress --json), or from FILE.refold.db, under the name that compress was
given with --conversation, if any."""


@click.command(epilog=_EPILOG)
@file_argument
@out_option
@known_option
@conversation_option
@click.option(
    "--json", "as_json", is_flag=True, help="Write messages and figures as one JSON object."
)
@quiet_option
def command(
    *,
    file: str,
    out: str | None,
    store: str | None,
    conversation: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Unfold a file to the bytes it had before it was folded."""
    check_out(out, store)
    document = read_document(file, conversation)
    with ExitStack() as stack:
        originals = find_originals(document, file, store, stack)
        with working("unfolding", chars=len(document.text()), quiet=quiet):
            unfolded = unfold_file(document, originals)
    write_text(_spell(unfolded) if as_json else unfolded.document.text(), out, file)
    if unfolded.missing:
        ids = "".join(f"\n  {clean(id_)}" for id_ in unfolded.missing)
        say(f"refold: {len(unfolded.missing)} originals are missing; their summaries stay:{ids}")
        return MISSING
    # With a sidecar of its own, a file cannot be confused with another: such texts may be genuine.
    if unfolded.in_vain and (store is not None or not unfolded.expanded):
        count = count_of(unfolded.in_vain, unfolded.in_vain)
        where = "what was kept with it" if store is None else repr(without_secrets(store))
        say(
            f"refold: {count} may be folded, but {where} knows nothing of that: "
            f"another store, another --conversation, or one that needs {KEYS}?"
        )
        is_expected = store is not None or conversation is not None
        return MISSING if is_expected and not unfolded.expanded else 0
    messages = count_of(len(unfolded.document.items), len(unfolded.document.items))
    done = f"{unfolded.expanded:,} unfolded" if unfolded.expanded else "nothing to unfold"
    say(f"{messages} · {done}", quiet=quiet)
    return 0


def _spell(unfolded: UnfoldedFile) -> str:
    body = {
        "messages": unfolded.document.messages,
        "messages_expanded": unfolded.expanded,
        "missing_ids": list(unfolded.missing),
    }
    return Style(ascii_only=False).dump(body) + "\n"
