"""Fold and unfold files: the library folds the messages, this keeps their spelling and originals.

There is one way to fold for all commands. Originals are in `--store`, in the file itself (as
`compress --json` writes it) or in FILE.refold.db beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from refold.cli.document import (
    STDIO,
    Document,
    locating_errors,
    note_spelling,
    read_document,
    spell_as_noted,
)
from refold.cli.options import make_options
from refold.cli.terminal import Progress, working
from refold.engine import Engine
from refold.errors import BudgetError, StoreError
from refold.llm.ask import run
from refold.messages.foreign import foreign_ids
from refold.messages.formats import check_list, load
from refold.messages.manifest import RECORD_PREFIXES, read_wording
from refold.messages.message import Message
from refold.messages.restore import restore
from refold.messages.wire import digest
from refold.options import Options
from refold.report.story import Row, make_rows
from refold.report.turns import align
from refold.result import Result, UncompressResult
from refold.stores import MemoryStore, Store
from refold.stores.opening import open_store
from refold.stores.scope import scoped

_LARGE_BYTES: Final = 500_000
"""A larger file shows its progress from the start."""

LINES_PREFIX: Final = "refold:lines:"
"""The prefix of the keys for the exact spelling of a file: a hash of the text up to its last
stand-in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedFile:
    """A file, its fold, and the library's result; what every command shows is read from here."""

    source: Document
    document: Document
    options: Options
    result: Result
    spellings: Mapping[str, Any]
    """What `uncompress` needs to restore the exact text of folded records; already in the store."""
    turns: tuple[int, int]
    """How many messages the file had and has, without the notes in a session file."""

    def loaded(self) -> tuple[Sequence[Message], Sequence[Message]]:
        """Return the messages before and after the fold, as the library reads them."""
        name = self.options.format
        before = load(self.source.messages, format_name=name)
        return before, load(self.document.messages, format_name=name) if before else ()

    def rows(self) -> Iterator[Row]:
        """Yield one row per text, in the order of the conversation."""
        for row in make_rows(*self.loaded(), self.result.places, self.result.entries.get()):
            yield replace(row, line=self.source.records[row.index].line)


def fold_file(
    document: Document,
    options: Options,
    store: Store,
    progress: Progress | None = None,
    *,
    summarizer: str | None = None,
) -> FoldedFile:
    """Fold the records of *document*; originals and exact spellings are in *store* on return.

    A *summarizer*, such as `openai:gpt-5-mini`, writes the summaries, if one is given.
    """
    engine = Engine(
        options,
        store=store,
        conversation=document.conversation,
        is_session=True,
        summarizer=summarizer,
    )
    job = engine.begin(document.messages)
    if progress is not None:
        looks = 2 * len({part.text for message in job.messages for part in message.parts})
        progress.share = lambda: min(1.0, job.text_cache.reader.looks / max(1, looks))
    result = engine.finish(job, run(engine.flow(job), engine.asker, job.tally))
    records, style = document.records, document.style
    view = list(align(document.messages, result))
    changed = [n for n, (place, wire) in enumerate(view) if wire is not records[place.start].wire]
    folded = document.replaced([(view[n][0], style.dump(view[n][1])) for n in changed])
    spellings: dict[str, Any] = {}
    if changed:  # note how all up to the last stand-in, also of an earlier fold, was first spelled
        kept = scoped(store, document.conversation)
        before = unfold_file(document, kept)
        older = (n for n, (place, _) in enumerate(view) if place.start in before.changed)
        last = max([changed[-1], *older])
        key = _keys(folded)[last]
        count = sum(place < view[last][0].stop for place in before.result.places)
        spellings = {key: note_spelling(before.document, count)}
        if kept.get([key]) not in ({}, spellings):
            raise StoreError(
                "the store already holds this conversation in another spelling (spaces or "
                "escapes); give this file a store of its own"
            )
        kept.put(spellings)
    is_turn = [message.is_turn for message in job.messages]
    return FoldedFile(
        source=document,
        document=folded,
        options=options,
        result=result,
        spellings=spellings,
        turns=(sum(is_turn), sum(any(is_turn[p.start : p.stop]) for p in result.places)),
    )


def _keys(document: Document) -> list[str]:
    """Return a key for each record that follows from all records up to it."""
    so_far, keys = hashlib.blake2b(digest_size=20), list[str]()
    for record in document.records:
        data = document.text[record.start : record.end].encode()
        so_far.update(len(data).to_bytes(8) + data)
        keys.append(LINES_PREFIX + so_far.hexdigest())
    return keys


class UnfoldedFile(NamedTuple):
    """A file that was unfolded, the library's result, and what was read of the store."""

    document: Document
    result: UncompressResult
    originals: Mapping[str, Any]
    changed: Set[int] = frozenset()
    """The places of its stand-ins, of which the originals are back."""


def unfold_file(document: Document, store: Store) -> UnfoldedFile:
    """Put the originals back, spelled as they were, or in the style of their file.

    The *store* is that of this conversation.
    """
    originals: dict[str, Any] = {}

    def get(keys: Iterable[str]) -> dict[str, Any]:
        entries = store.get(keys)
        originals.update(entries)
        return entries

    messages = check_list(document.messages)
    result = restore(messages, get, conversation=document.conversation)
    sources: list[list[Any]] = [[] for _ in messages]
    for wire, place in zip(result.messages, result.places, strict=True):
        sources[place].append(wire)
    changed = [n for n, wires in enumerate(sources) if wires != [messages[n]]]
    if not changed:
        return UnfoldedFile(document, result, originals)
    keys, style, gap = _keys(document), document.style, document.gap
    notes = get([keys[n] for n in changed])
    last = max((n for n in changed if keys[n] in notes), default=-1)
    noted = [wire for wires in sources[: last + 1] for wire in wires]
    text = spell_as_noted(noted, notes[keys[last]]) if last >= 0 else None
    changes = [] if text is None else [(range(last + 1), text)]
    for n in changed:
        if text is None or n > last:
            changes.append((range(n, n + 1), gap.join(map(style.dump, sources[n]))))
    return UnfoldedFile(document.replaced(changes), result, originals, frozenset(changed))


# where originals are


def sidecar_of(path: str) -> Path:
    """Return the path of the store beside a file."""
    return Path(f"{path}.refold.db")


def may_be_folded(document: Document) -> bool:
    """Return whether a record may be a stand-in; a cheap test."""
    wires = [wire for wire in document.messages if isinstance(wire, dict)]
    return any(foreign_ids(wire) or read_wording(wire).is_marked for wire in wires)


def open_embedded(document: Document) -> MemoryStore:
    """Return a store in memory with the originals that came in the same file."""
    store = MemoryStore()
    entries = {
        key if key.startswith((*RECORD_PREFIXES, LINES_PREFIX)) else digest(value): value
        for key, value in (document.verbatim or {}).items()
    }
    scoped(store, document.conversation).put(entries)
    return store


def find_known(document: Document, path: str, store: str | None, stack: ExitStack) -> Store | None:
    """Return where the originals of a file are: --store, else the file itself, else its sidecar."""
    if store is None and document.verbatim is not None:
        return open_embedded(document)
    if store is None and (path == STDIO or not sidecar_of(path).exists()):
        return None
    return stack.enter_context(open_store(store or sidecar_of(path), read_only=True))


def carry_over(document: Document, known: Store | None, target: Store) -> Store:
    """Copy the originals of what is folded in a file already: it may be folded again."""
    if known is not None:
        originals = unfold_file(document, scoped(known, document.conversation)).originals
        scoped(target, document.conversation).put(originals)
    return target


# looking at a fold


@contextmanager
def opened(
    what: str, file: str, store: str | None, conversation: str | None, *, quiet: bool = False
) -> Iterator[tuple[Document, Store | None, Progress]]:
    """Read a file, and open where its originals are; errors name the file, progress is shown."""
    is_long = False
    with suppress(OSError, ValueError):  # whoever reads it says what is wrong with it
        is_long = Path(file).stat().st_size > _LARGE_BYTES
    with ExitStack() as stack, working(what, quiet=quiet, is_long=is_long) as progress:
        document = read_document(file, conversation)
        with locating_errors(document):
            yield document, find_known(document, file, store, stack), progress


@contextmanager
def fold_preview(
    *, file: str, store: str | None, conversation: str | None, **choices: Any
) -> Iterator[FoldedFile]:
    """Fold *file* with these choices, changing nothing; check the budget after the body."""
    options = make_options(**choices)
    with opened("folding", file, store, conversation) as (document, known, progress):
        copy = carry_over(document, known, MemoryStore())
        folded = fold_file(document, options, copy, progress)
    yield folded
    check_budget(folded.result)


def check_budget(result: Result) -> None:
    """Raise `BudgetError` if the budget is exceeded; called after the result is written."""
    if result.budget is not None and not result.budget.fits:
        raise BudgetError(result.budget.explain())
