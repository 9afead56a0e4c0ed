"""`refold compress`: fold a conversation file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import click

from refold.cli.document import Document
from refold.cli.folding import FoldedFile, fold_file, may_be_folded
from refold.cli.io import STDIO, dump_envelope, is_stream, read_document, say, write_text
from refold.cli.options import (
    Share,
    check_budget,
    conversation_option,
    file_argument,
    fold_options,
    make_options,
    out_option,
    quiet_option,
    set_budget,
    store_option,
)
from refold.cli.originals import (
    Sidecar,
    check_out,
    embed_originals,
    inherit,
    locating_nesting_errors,
    open_embedded,
    sidecar_of,
)
from refold.cli.terminal import clean, count_of, percent_saved, working
from refold.errors import StoreError
from refold.result import ModelReport
from refold.scan.tokens.choose import encoding_for
from refold.stores import Store
from refold.stores.opening import open_store, without_secrets

_EPILOG = """\b
Examples:
  refold compress chat.jsonl -o small.jsonl
  refold compress chat.json -o small.json --store originals.db
  refold compress ann.json -o small.json --store all.db --conversation ann
  refold compress chat.json --json > folded.json
  refold compress chat.jsonl -o chat.jsonl --set recency_window=8
  refold compress chat.jsonl -o small.jsonl --budget 8000 --model gpt-5
  refold compress session.jsonl -o small.jsonl --profile standard --budget 50%
  refold compress chat.jsonl -o small.jsonl --summarizer ollama:llama3
  cat chat.json | refold compress - --json | refold uncompress -
  refold compress chat.json -o out.json --set 'preserve_patterns=T-[0-9]+'

\b
Originals go to --store STORE, or to OUT.refold.db next to the output, or
(with --json) into the output itself. If conversations of several people share
a store, name each with --conversation, and unfold it under the same name."""


@click.command(epilog=_EPILOG)
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
    "--json", "as_json", is_flag=True, help="Write messages, originals and figures as one JSON."
)
@quiet_option
def command(
    *,
    file: str,
    out: str | None,
    store: str | None,
    conversation: str | None,
    budget: int | Share | None,
    summarizer: str | None,
    as_json: bool,
    quiet: bool,
    **choices: Any,
) -> None:
    """Fold a conversation file, and keep its originals."""
    options = make_options(**choices)
    out = None if out == STDIO else out
    check_out(out, store)
    document = read_document(file, conversation)
    as_json = as_json or document.verbatim is not None
    if (out is None or is_stream(out)) and store is None and not as_json:
        raise click.UsageError(
            "the originals need a place: add -o OUT with a file (they go to OUT.refold.db), "
            "--store STORE, or --json (they go into the output)"
        )
    options = set_budget(options, budget, document)
    with ExitStack() as stack, locating_nesting_errors(document):
        if store is not None:
            inherit(document, file, store)
        elif out is not None and not as_json:
            inherit(document, file, str(sidecar_of(out)))
        if as_json:
            document = embed_originals(document, file, store)
        chosen, place = _choose_store(document, out, store, as_json, stack)
        with working("folding", chars=len(document.text()), quiet=quiet) as progress:
            folded = fold_file(document, options, chosen, progress, summarizer=summarizer)
        if not folded.is_changed and any(map(may_be_folded, document.messages)):
            chosen.put({})  # so that `uncompress` finds a store, and in it that nothing is missing
        write_text(_spell(folded, document, as_json), out, file)
    say(_summary(folded, place, options.model), quiet=quiet)
    if folded.result.model is not None:
        say(_tell_model(folded.result.model, str(summarizer)), quiet=quiet)
    check_budget(folded.result)


def _choose_store(
    document: Document, out: str | None, store: str | None, as_json: bool, stack: ExitStack
) -> tuple[Store, str]:
    """Return where the originals go, and how to call that place."""
    if store is not None:
        return stack.enter_context(open_store(store)), without_secrets(store)
    if as_json or out is None:
        return open_embedded(document), "the output"
    sidecar = sidecar_of(out)
    return Sidecar(sidecar, stack), str(sidecar)


def _spell(folded: FoldedFile, document: Document, as_json: bool) -> str:
    if not as_json:
        return folded.document.text()
    verbatim = _join(document.verbatim or {}, folded.result.verbatim)
    return dump_envelope(
        folded.document, {**verbatim, **folded.spellings}, folded.result.compression
    )


def _join(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Put the originals of an earlier round and of this one together; none may get lost."""
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
    kept = f"originals in {place}" if folded.is_changed else "nothing to fold"
    said = [count_of(*folded.turns), f"{tokens} ({percent_saved(figures)})", kept]
    if model is not None and encoding_for(model) is None:
        said.append(f"tokens are estimated: {clean(model)} has no public tokenizer")
    return " · ".join(said)


def _tell_model(report: ModelReport, name: str) -> str:
    """Say what became of the model's answers; what went wrong with it comes last."""
    used = report.accepted + report.repaired
    asked = "1 text" if report.asked == 1 else f"{report.asked:,} texts"
    said = f"{clean(name)} was asked about {asked}: {used:,} answers used"
    gates = Counter(answer.gate for answer in report.refused)
    if gates:
        named = ", ".join(f"{gate.replace('_', ' ')} {count}" for gate, count in gates.items())
        said += f", {gates.total():,} refused ({named})"
    if report.failures:
        said += f"; {len(report.failures):,} failed: {clean(report.failures[0])}"
    return said
