"""`refold compress`, `uncompress` and `retrieve`: fold a file, unfold it, fetch a text of it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Final

import click

from refold.cli import MISSING
from refold.cli.document import (
    STDIO,
    check_out,
    dump_envelope,
    dump_line,
    is_stream,
    write_text,
)
from refold.cli.folding import (
    FoldedFile,
    carry_over,
    check_budget,
    fold_file,
    may_be_folded,
    open_embedded,
    opened,
    sidecar_of,
    unfold_file,
)
from refold.cli.options import STORE_TO_WRITE, command, make_options
from refold.cli.terminal import clean, count_of, say
from refold.errors import StoreError
from refold.result import ModelReport, percent_saved
from refold.scan.tokens.choose import encoding_for
from refold.stores import MemoryStore, Store
from refold.stores.opening import KEYS, open_store, without_secrets
from refold.stores.scope import scoped
from refold.tools.retrieve import retrieve_tool

_WHOLE: Final = 10**9 - 1
"""More tokens than any text has."""
_QUERY_TOKENS: Final = 2_000
"""As many as an agent is shown."""
_HEAD: Final = "[original "
"""The beginning of an answer that has the text below its first line."""


@command(
    store=STORE_TO_WRITE,
    summarizer=(
        "--summarizer PROVIDER:MODEL",
        "Let this model write summaries, such as openai:gpt-5-mini; every answer is checked.",
    ),
    as_json=("--json", "Write messages, originals and figures as one JSON object."),
)
def compress_command(
    *,
    file: str,
    out: str | None,
    store: str | None,
    conversation: str | None,
    summarizer: str | None,
    as_json: bool,
    quiet: bool,
    **choices: Any,
) -> None:
    """Fold a conversation file, and keep its originals.

    Examples:
      refold compress chat.jsonl -o small.jsonl --budget 30%
      refold compress chat.json.gz -o small.json.gz --store originals.db
      refold compress ann.json -o small.json --store all.db --conversation ann
      refold compress chat.jsonl -o small.jsonl --summarizer ollama:llama3
      cat chat.json | refold compress - --json | refold uncompress -

    Originals go to --store STORE, or to OUT.refold.db next to the output, or
    (with --json) into the output itself. If conversations of several people share
    a store, name each with --conversation, and unfold it under the same name.
    """
    options = make_options(**choices)
    out = None if out == STDIO else out
    check_out(out, store)
    with (
        opened("folding", file, None, conversation, quiet=quiet) as (document, before, progress),
        ExitStack() as stack,
    ):
        as_json = as_json or document.verbatim is not None
        sidecar = None if store or as_json or out is None or is_stream(out) else sidecar_of(out)
        if not (store or as_json or sidecar):
            raise click.UsageError(
                "say where the originals go: -o OUT with a file (they go to OUT.refold.db), "
                "--store STORE, or --json (they go into the output)"
            )
        target: Store = open_embedded(document)
        if store is not None or (sidecar is not None and sidecar.exists()):
            target = stack.enter_context(open_store(store or str(sidecar)))
        carry_over(document, before, target)
        known = unfold_file(document, scoped(target, conversation)).originals if as_json else {}
        folded = fold_file(document, options, target, progress, summarizer=summarizer)
        is_folded = folded.spellings or may_be_folded(document)
        if sidecar and isinstance(target, MemoryStore) and is_folded:  # else it is not made
            entries = target.get([entry.key for entry in target.entries()])
            stack.enter_context(open_store(sidecar)).put(entries)
        text = folded.document.text
        if as_json:
            originals = _join({**(document.verbatim or {}), **known}, folded)
            text = dump_envelope(folded.document, originals, folded.result.compression.to_dict())
    write_text(text, out, file)
    place = without_secrets(store) if store else str(sidecar or "the output")
    say(_summary(folded, place, options.model), quiet=quiet)
    if folded.result.model is not None:
        say(_tell_model(folded.result.model, str(summarizer)), quiet=quiet)
    check_budget(folded.result)


def _join(old: Mapping[str, Any], folded: FoldedFile) -> dict[str, Any]:
    """Merge the originals of an earlier round with those of this one; none may get lost."""
    new = {**folded.result.verbatim, **folded.spellings}
    for key, value in new.items():
        if key in old and old[key] != value:
            raise StoreError(
                f"the id {key!r} already names another original in this document; "
                "give the new message an id of its own"
            )
    return {**old, **new}


def _summary(folded: FoldedFile, place: str, model: str | None) -> str:
    figures = folded.result.compression
    tokens = f"{figures.tokens_before:,} → {figures.tokens_after:,} tokens"
    saved = percent_saved(figures.tokens_before, figures.tokens_after)
    kept = f"originals in {place}" if folded.spellings else "nothing to fold"
    words = [count_of(*folded.turns), f"{tokens} ({saved})", kept]
    if model is not None and encoding_for(model) is None:
        words.append(f"tokens are estimated: {clean(model)} has no public tokenizer")
    return " · ".join(words)


def _tell_model(report: ModelReport, name: str) -> str:
    """Summarize what became of the model's answers; failures come last."""
    used = report.accepted + report.repaired
    asked = "1 text" if report.asked == 1 else f"{report.asked:,} texts"
    words = f"{clean(name)} was asked about {asked}: {used:,} answers accepted"
    checks = Counter(answer.check for answer in report.refused)
    if checks:
        named = ", ".join(f"{check.replace('_', ' ')} {count}" for check, count in checks.items())
        words += f", {checks.total():,} refused ({named})"
    if report.failures:
        words += f"; {len(report.failures):,} failed: {clean(report.failures[0])}"
    return words


@command(as_json=("--json", "Write messages and figures as one JSON object."))
def uncompress_command(
    *,
    file: str,
    out: str | None,
    store: str | None,
    conversation: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Unfold a file to the bytes it had before it was folded.

    Examples:
      refold uncompress small.jsonl -o chat.jsonl
      refold uncompress small.json --store all.db --conversation ann > chat.json
      refold uncompress small.jsonl --json | jq .missing_ids

    Originals come from --store STORE, or from the document itself (as written by
    compress --json), or from FILE.refold.db, under the name that compress was
    given with --conversation, if any.
    """
    check_out(out, store)
    with opened("unfolding", file, store, conversation, quiet=quiet) as (document, known, _):
        if known is None and may_be_folded(document):
            beside = f"there is no {str(sidecar_of(file))!r}"
            raise StoreError(
                f"no originals for {document.name}: "
                f"{'standard input comes with none' if file == STDIO else beside}; "
                "name their store with --store STORE, or unfold a document that was written with "
                "compress --json"
            )
        unfolded = unfold_file(document, scoped(known or MemoryStore(), conversation))
    text, result = unfolded.document.text, unfolded.result
    if as_json:
        figures = {name: getattr(result, name) for name in ("messages_expanded", "missing_ids")}
        text = dump_line({"messages": result.messages, **figures})
    write_text(text, out, file)
    if result.missing_ids:
        ids = "".join(f"\n  {clean(id_)}" for id_ in result.missing_ids)
        say(f"refold: {len(result.missing_ids)} originals are missing; their summaries stay:{ids}")
        return MISSING
    # With a sidecar of its own, a file cannot be confused with another: such texts may be genuine.
    if result.unknown and (store is not None or not result.messages_expanded):
        where = "what was kept with it" if store is None else repr(without_secrets(store))
        say(
            f"refold: {count_of(len(result.unknown), len(result.unknown))} may be folded, but "
            f"{where} has no record of it: another store, another --conversation, or one that "
            f"needs {KEYS}?"
        )
        is_expected = store is not None or conversation is not None
        return MISSING if is_expected and not result.messages_expanded else 0
    total = len(result.messages)
    done = f"{result.messages_expanded:,} unfolded" if result.messages_expanded else ""
    say(f"{count_of(total, total)} · {done or 'nothing to unfold'}", quiet=quiet)
    return 0


@command(
    handle=("[HANDLE]",),
    file=("[FILE|-]",),
    lines=("--lines FIRST-LAST", "Only these lines, such as 120-180."),
    query=("--query WORDS", "Search all originals; give no HANDLE."),
)
def retrieve_command(
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
    """Fetch the text of a handle, or search all originals.

    Examples:
      refold retrieve '#kdbfq' small.jsonl
      refold retrieve kdbfq small.jsonl --lines 120-180
      refold retrieve small.jsonl --query 'which tests timed out?'

    FILE is the folded file that shows the handle. Its originals are in
    --store STORE, in the file itself, or in FILE.refold.db. Without FILE, --store
    STORE is searched under the name of --conversation, or for a handle of 28
    letters. With --query there is no HANDLE, only FILE: the pieces of all its
    originals that fit best are shown.
    """
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
    wanted = {"handle": handle, "lines": lines, "query": query}
    most = _QUERY_TOKENS if query else _WHOLE

    def ask(known: Store, messages: list[Any]) -> str:
        tool = retrieve_tool(known, messages=messages, conversation=conversation, max_tokens=most)
        return tool.call({name: value for name, value in wanted.items() if value})

    if file is None:
        with open_store(str(store), read_only=True) as whole:
            answer = ask(whole, [])
    else:
        with opened("searching", file, store, conversation, quiet=quiet) as (document, known, _):
            answer = ask(known or MemoryStore(), document.messages)
    title, line_feed, text = answer.partition("\n")
    if query and line_feed:
        write_text(answer + "\n", out, file or STDIO)
        return 0
    if not answer.startswith(_HEAD) or not line_feed:
        say(f"refold: {clean(answer.strip('[]'))}")
        return MISSING
    say(clean(title), quiet=quiet)
    write_text(text, out, file or STDIO)
    if out is None and sys.stdout.isatty() and not text.endswith("\n"):
        click.echo()  # so that the prompt has a line of its own
    return 0
