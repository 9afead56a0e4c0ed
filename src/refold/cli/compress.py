"""`refold compress`: fold a conversation file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from refold.cli.document import Document, dump_envelope
from refold.cli.files import (
    STDIO,
    ReadOnlyStore,
    check_out,
    embedded_entries,
    find_known,
    is_stream,
    open_embedded,
    read_document,
    sidecar_of,
    write_text,
)
from refold.cli.folding import (
    FoldedFile,
    fold_file,
    may_be_folded,
    scope_store,
    unfold_file,
)
from refold.cli.options import (
    Share,
    check_budget,
    conversation_option,
    file_argument,
    fold_options,
    make_options,
    out_option,
    set_budget,
    store_option,
)
from refold.cli.terminal import clean, count_of, percent_saved, quiet_option, say, working
from refold.errors import FormatError, NestingError, StoreError
from refold.result import ModelReport
from refold.scan.tokens.choose import encoding_for
from refold.stores import Store
from refold.stores.base import OpenStore
from refold.stores.codec import MAX_DEPTH, encode_value
from refold.stores.opening import is_file, is_missing, is_same_file, open_store, without_secrets
from refold.stores.sqlite_file import copy_entries
from refold.stores.upkeep import copy_store

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
    "--json",
    "as_json",
    is_flag=True,
    help="Write messages, originals and figures as one JSON object.",
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
    with ExitStack() as stack, _locating_nesting_errors(document):
        if store is not None:
            _inherit(document, file, store)
        elif out is not None and not as_json:
            _inherit(document, file, str(sidecar_of(out)))
        if as_json:
            document = _embed_originals(document, file, store)
        chosen, place = _choose_store(document, out, store, as_json, stack)
        with working("folding", chars=len(document.text()), quiet=quiet) as progress:
            folded = fold_file(document, options, chosen, progress, summarizer=summarizer)
        if not folded.is_changed and any(map(may_be_folded, document.messages)):
            chosen.put({})  # creates the store, so that `uncompress` does not report it as missing
        write_text(_spell(folded, document, as_json), out, file)
    say(_summary(folded, place, options.model), quiet=quiet)
    if folded.result.model is not None:
        say(_tell_model(folded.result.model, str(summarizer)), quiet=quiet)
    check_budget(folded.result)


def _choose_store(
    document: Document, out: str | None, store: str | None, as_json: bool, stack: ExitStack
) -> tuple[Store, str]:
    """Return the store for the originals, and how to name it to the user."""
    if store is not None:
        return stack.enter_context(open_store(store)), without_secrets(store)
    if as_json or out is None:
        return open_embedded(document), "the output"
    sidecar = sidecar_of(out)
    return _Sidecar(sidecar, stack), str(sidecar)


def _spell(folded: FoldedFile, document: Document, as_json: bool) -> str:
    if not as_json:
        return folded.document.text()
    verbatim = _join(document.verbatim or {}, folded.result.verbatim)
    return dump_envelope(
        folded.document, {**verbatim, **folded.spellings}, folded.result.compression
    )


def _join(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the originals of an earlier round with those of this one; none may get lost."""
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
    """Summarize what became of the model's answers; failures come last."""
    used = report.accepted + report.repaired
    asked = "1 text" if report.asked == 1 else f"{report.asked:,} texts"
    said = f"{clean(name)} was asked about {asked}: {used:,} answers used"
    gates = Counter(answer.check for answer in report.refused)
    if gates:
        named = ", ".join(f"{gate.replace('_', ' ')} {count}" for gate, count in gates.items())
        said += f", {gates.total():,} refused ({named})"
    if report.failures:
        said += f"; {len(report.failures):,} failed: {clean(report.failures[0])}"
    return said


class _Sidecar:
    """A store beside a file, created by the first put."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self._path = path
        self._stack = stack
        self._store: OpenStore | None = None

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep *entries*; creates the file if necessary."""
        self._open().put(entries)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known, which is nothing while there is no file."""
        if self._store is None and not self._path.exists():
            return {}
        return self._open().get(keys)

    def _open(self) -> OpenStore:
        if self._store is None:
            self._store = self._stack.enter_context(open_store(self._path))
        return self._store


def _inherit(document: Document, source: str, target: str) -> None:
    """Copy the known originals of *source* into a store: its stand-ins may be folded again."""
    known = sidecar_of(source)
    if document.verbatim is not None:
        with open_store(target) as store:
            scope_store(store, document).put(embedded_entries(document))
    elif source != STDIO and known.exists() and not is_same_file(target, str(known)):
        if is_file(target):
            copy_entries(known.absolute(), Path(target).absolute())
        else:
            with open_store(known, read_only=True) as old, open_store(target) as new:
                copy_store(old, new)


@contextmanager
def _locating_nesting_errors(document: Document) -> Iterator[None]:
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


def _embed_originals(document: Document, path: str, store_path: str | None) -> Document:
    """Return *document* with the originals of its stand-ins embedded, wherever they are now.

    A store that does not exist yet is not searched.
    """
    known = None if store_path is None or is_missing(store_path) else store_path
    with ExitStack() as stack:
        found = find_known(document, path, known, stack)
        if found is None or isinstance(found, Mapping):
            return document
        reader = ReadOnlyStore(scope_store(found, document))
        unfold_file(document, reader)
    return replace(document, verbatim={**(document.verbatim or {}), **reader.found})
