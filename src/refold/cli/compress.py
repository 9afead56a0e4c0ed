"""`refold compress` and `refold uncompress`: fold a conversation file, and unfold it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import click

from refold.cli import MISSING
from refold.cli.document import (
    STDIO,
    Document,
    check_out,
    dump_envelope,
    dump_line,
    is_stream,
    read_document,
    write_text,
)
from refold.cli.folding import (
    FoldedFile,
    carry_over,
    find_known,
    fold_file,
    may_be_folded,
    open_embedded,
    scoped_store,
    sidecar_of,
    unfold_file,
)
from refold.cli.options import (
    check_budget,
    conversation_option,
    file_argument,
    fold_options,
    known_option,
    make_options,
    out_option,
    store_option,
)
from refold.cli.terminal import clean, count_of, quiet_option, say, working
from refold.errors import FormatError, NestingError, StoreError
from refold.result import ModelReport, percent_saved
from refold.scan.tokens.choose import encoding_for
from refold.stores import MemoryStore, Store
from refold.stores.codec import MAX_DEPTH, encode_value
from refold.stores.opening import KEYS, open_store, without_secrets

_COMPRESS = """\b
Examples:
  refold compress chat.jsonl -o small.jsonl --budget 30%
  refold compress chat.json.gz -o small.json.gz --store originals.db
  refold compress ann.json -o small.json --store all.db --conversation ann
  refold compress chat.jsonl -o small.jsonl --summarizer ollama:llama3
  cat chat.json | refold compress - --json | refold uncompress -

\b
Originals go to --store STORE, or to OUT.refold.db next to the output, or
(with --json) into the output itself. If conversations of several people share
a store, name each with --conversation, and unfold it under the same name."""


@click.command("compress", epilog=_COMPRESS)
@file_argument
@out_option
@store_option
@conversation_option
@fold_options
@click.option(
    "--summarizer",
    metavar="PROVIDER:MODEL",
    help="Let this model write summaries, such as openai:gpt-5-mini or ollama:llama3; "
    "every answer is checked before it is used.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Write messages, originals and figures as one JSON object.",
)
@quiet_option
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
    """Fold a conversation file, and keep its originals."""
    options = make_options(**choices)
    out = None if out == STDIO else out
    check_out(out, store)
    document = read_document(file, conversation, quiet=quiet)
    as_json = as_json or document.verbatim is not None
    if (out is None or is_stream(out)) and store is None and not as_json:
        raise click.UsageError(
            "say where the originals go: -o OUT with a file (they go to OUT.refold.db), "
            "--store STORE, or --json (they go into the output)"
        )
    with ExitStack() as stack, _locating_nesting(document):
        sidecar = None if store is not None or as_json or out is None else sidecar_of(out)
        place = "the output" if sidecar is None else str(sidecar)
        target: Store = open_embedded(document)
        if store is not None:
            target, place = stack.enter_context(open_store(store)), without_secrets(store)
        elif sidecar is not None and sidecar.exists():
            target = stack.enter_context(open_store(sidecar))
        carry_over(document, find_known(document, file, None, stack), target)
        known = carry_over(document, target, MemoryStore()) if as_json else {}
        with working("folding", chars=len(document.text()), quiet=quiet) as progress:
            folded = fold_file(document, options, target, progress, summarizer=summarizer)
        is_folded = folded.spellings or any(map(may_be_folded, document.messages))
        if sidecar is not None and isinstance(target, MemoryStore) and is_folded:
            entries = target.get([entry.key for entry in target.entries()])
            stack.enter_context(open_store(sidecar)).put(entries)
        text = folded.document.text()
        if as_json:
            originals = _join({**(document.verbatim or {}), **known}, folded)
            text = dump_envelope(folded.document, originals, folded.result.compression.to_dict())
        write_text(text, out, file)
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


@contextmanager
def _locating_nesting(document: Document) -> Iterator[None]:
    """Add to an error which line is nested too deeply, and where its originals could be kept."""
    try:
        yield
    except NestingError as error:
        line = next((item.line for item in document.items if not _is_storable(item.wire)), 0)
        raise FormatError(
            f"nested more than {MAX_DEPTH} levels deep, which no store takes; "
            "use --json without --store: the originals then go into the output",
            f"{document.name}, line {line}" if line else document.name,
        ) from error


def _is_storable(wire: Any) -> bool:
    try:
        encode_value("", wire)
    except NestingError:
        return False
    return True


_UNCOMPRESS = """\b
Examples:
  refold uncompress small.jsonl -o chat.jsonl
  refold uncompress small.json --store all.db --conversation ann > chat.json
  refold uncompress small.jsonl --json | jq .missing_ids

\b
Originals come from --store STORE, or from the document itself (as written by
compress --json), or from FILE.refold.db, under the name that compress was
given with --conversation, if any."""


@click.command("uncompress", epilog=_UNCOMPRESS)
@file_argument
@out_option
@known_option
@conversation_option
@click.option(
    "--json", "as_json", is_flag=True, help="Write messages and figures as one JSON object."
)
@quiet_option
def uncompress_command(
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
    document = read_document(file, conversation, quiet=quiet)
    with ExitStack() as stack:
        known = find_known(document, file, store, stack)
        if known is None and any(
            may_be_folded(w) for w in document.messages if isinstance(w, dict)
        ):
            beside = f"there is no {str(sidecar_of(file))!r}"
            raise StoreError(
                f"no originals for {document.name}: "
                f"{'standard input has none with it' if file == STDIO else beside}; "
                "name their store with --store STORE, or unfold a document that was written with "
                "compress --json"
            )
        with working("unfolding", chars=len(document.text()), quiet=quiet):
            unfolded = unfold_file(document, scoped_store(known or MemoryStore(), document))
    text = unfolded.document.text()
    if as_json:
        text = dump_line(
            {
                "messages": unfolded.document.messages,
                "messages_expanded": unfolded.expanded,
                "missing_ids": list(unfolded.missing),
            }
        )
    write_text(text, out, file)
    if unfolded.missing:
        ids = "".join(f"\n  {clean(id_)}" for id_ in unfolded.missing)
        say(f"refold: {len(unfolded.missing)} originals are missing; their summaries stay:{ids}")
        return MISSING
    # With a sidecar of its own, a file cannot be confused with another: such texts may be genuine.
    if unfolded.unknown and (store is not None or not unfolded.expanded):
        where = "what was kept with it" if store is None else repr(without_secrets(store))
        count = count_of(unfolded.unknown, unfolded.unknown)
        say(
            f"refold: {count} may be folded, but {where} has no record of it: another store, "
            f"another --conversation, or one that needs {KEYS}?"
        )
        is_expected = store is not None or conversation is not None
        return MISSING if is_expected and not unfolded.expanded else 0
    total = len(unfolded.document.items)
    done = f"{unfolded.expanded:,} unfolded" if unfolded.expanded else "nothing to unfold"
    say(f"{count_of(total, total)} · {done}", quiet=quiet)
    return 0
