"""Fold and unfold whole files: the library folds the messages, this keeps the bytes around them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from refold.api import find_source
from refold.cli.document import Document, Item
from refold.cli.terminal import Progress
from refold.engine import Engine, scoped
from refold.errors import FormatError, MessageError, StoreError
from refold.llm.ask import run
from refold.messages.formats import check_list
from refold.messages.json_style import Style, says
from refold.messages.provenance import foreign_ids
from refold.messages.restore import restore
from refold.messages.said import read_said
from refold.options import Options
from refold.report.turns import align
from refold.result import Result
from refold.stores import Store

LINES_PREFIX: Final = "refold:lines:"
"""The prefix of the keys for the exact spelling of folded records: a hash of all the text up to
their stand-in."""

_INDEX: Final = re.compile(r"messages\[(\d+)\]")

Originals = Store | Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedFile:
    """A folded file, and the library's result."""

    document: Document
    result: Result
    places: tuple[range, ...]
    """The records of the original file that each new record stands for."""
    spellings: Mapping[str, Any]
    """What `uncompress` needs to restore the exact text of folded records; already in the store."""
    turns: tuple[int, int]
    """How many messages the file had and has, without the notes in a session file."""

    @property
    def is_changed(self) -> bool:
        """Whether anything was folded at all."""
        return bool(self.spellings)


@dataclass(slots=True, kw_only=True)
class UnfoldedFile:
    """A file that is being unfolded, and the originals that were missing."""

    document: Document
    expanded: int = 0
    missing: list[str] = field(default_factory=list[str])
    in_vain: int = 0
    """How many records look like stand-ins but are not known."""
    places: tuple[int, ...] = ()
    """For each record, the place of the one that it is, or that stood for it."""


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
    with locating_errors(document):
        engine = Engine(
            options, store=store, conversation=document.conversation, summarizer=summarizer
        )
        result, is_turn = _fold(document.messages, engine, progress or Progress())
    before = _records_behind(document, store)
    items: list[Item] = []
    places: list[range] = []
    folded: dict[str, tuple[Item, ...]] = {}
    turns_after = 0
    chain = _Chain()
    for place, wire in align(document.messages, result):
        sources = document.items[place.start : place.stop]
        is_kept = wire is sources[0].wire
        behind = tuple(item for number in place for item in before[number])
        raw = sources[0].raw if is_kept else document.style.dump(wire)
        key = chain.add(raw)
        items.append(Item(raw=raw, wire=wire, gap=sources[-1].gap))
        places.append(place)
        turns_after += any(is_turn[place.start : place.stop])
        if not is_kept or behind != (sources[0],):
            folded[key] = behind
    return FoldedFile(
        document=document.with_items(items),
        result=result,
        places=tuple(places),
        spellings=_keep_spellings(folded, document, scope_store(store, document)),
        turns=(sum(is_turn), turns_after),
    )


def _fold(
    messages: Sequence[Mapping[str, Any]], engine: Engine, progress: Progress
) -> tuple[Result, list[bool]]:
    """Return the result, and for each record whether it is a message or only a note."""
    job = engine.begin(messages)
    looks = 2 * len({part.text for message in job.messages for part in message.parts})
    progress.share = lambda: min(1, job.text_cache.looks / max(1, looks))
    result = engine.finish(job, run(engine.flow(job), engine.asker, job.tally))
    return result, [message.is_turn for message in job.messages]


def scope_store(store: Store, document: Document) -> Store:
    """Return the part of *store* with the originals of *document*."""
    return scoped(store, document.conversation)


class _Chain:
    """Makes keys for positions in a file from all records before: several files share a store."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=20)

    def add(self, raw: str) -> str:
        """Add the next record; return the key of the position after it."""
        data = raw.encode()
        self._hash.update(len(data).to_bytes(8) + data)
        return LINES_PREFIX + self._hash.hexdigest()


def _keep_spellings(
    folded: Mapping[str, tuple[Item, ...]], document: Document, store: Store
) -> dict[str, Any]:
    """Put the spelling of folded records into *store*, which must not have a different one."""
    style = document.style
    spellings = {
        key: {
            "style": style.to_wire(),
            # None where the style of the file reproduces the text.
            "raw": [None if style.dump(item.wire) == item.raw else item.raw for item in sources],
            "gaps": [item.gap for item in sources[:-1]],
        }
        for key, sources in folded.items()
    }
    known = store.get(spellings) if spellings else {}
    for key, entry in known.items():
        sources = folded[key]
        expected = [(item.raw, item.gap) for item in sources]
        if _spellings_of([item.wire for item in sources], entry, sources[-1].gap) != expected:
            raise StoreError(
                "the store already holds this conversation in another spelling (spaces or "
                "escapes); give this file a store of its own"
            )
    if spellings:
        store.put(spellings)
    return spellings


def _spellings_of(
    wires: Sequence[Any], entry: object, last_gap: str
) -> list[tuple[str, str]] | None:
    """Return the exact text and gap of each record, if *entry* knows them."""
    match entry:
        case {"style": style, "raw": [*raws], "gaps": [*gaps]}:
            pass
        case _:
            return None
    if len(raws) != len(wires) or len(gaps) != len(wires) - 1:
        return None
    spell = Style.from_wire(style)
    spelled = [
        raw if isinstance(raw, str) and says(raw, wire) else spell.dump(wire)
        for raw, wire in zip(raws, wires, strict=True)
    ]
    return list(zip(spelled, [*map(str, gaps), last_gap], strict=True))


def unfold_file(document: Document, originals: Originals) -> UnfoldedFile:
    """Put the originals back, spelled as they were, or in the style of their file.

    *originals* are those of this conversation.
    """
    with locating_errors(document):
        messages = check_list(document.messages)
    result = restore(messages, find_source(originals, None), conversation=document.conversation)
    chain = _Chain()
    keys = [chain.add(item.raw) for item in document.items]
    behind: list[list[dict[str, Any]]] = [[] for _ in keys]
    for wire, place in zip(result.messages, result.places, strict=True):
        behind[place].append(wire)
    changed = [n for n, wires in enumerate(behind) if wires != [document.items[n].wire]]
    entries = _look_up(originals, [keys[place] for place in changed])
    items: list[Item] = []
    for place, item in enumerate(document.items):
        same = behind[place] == [item.wire]
        entry = entries.get(keys[place])
        items += [item] if same else _respell(behind[place], entry, document, item.gap)
    return UnfoldedFile(
        document=document.with_items(items),
        expanded=result.messages_expanded,
        missing=result.missing_ids,
        in_vain=len(result.unknown),
        places=result.places,
    )


def _records_behind(document: Document, store: Store) -> list[tuple[Item, ...]]:
    """Return for each record of *document* those that it stands for, or itself."""
    unfolded = unfold_file(document, scope_store(store, document))
    behind: list[tuple[Item, ...]] = [() for _ in document.items]
    for item, place in zip(unfolded.document.items, unfolded.places, strict=True):
        behind[place] = (*behind[place], item)
    return behind


def _respell(wires: Sequence[Any], entry: object, document: Document, gap: str) -> Iterator[Item]:
    """Yield records as they were spelled, or in the style of their file."""
    spelled = _spellings_of(wires, entry, gap)
    if spelled is None:
        gaps = [*[document.gap] * (len(wires) - 1), gap]
        spelled = [(document.style.dump(wire), gap) for wire, gap in zip(wires, gaps, strict=True)]
    for wire, (raw, after) in zip(wires, spelled, strict=True):
        yield Item(raw=raw, wire=wire, gap=after)


def _look_up(originals: Originals, keys: Sequence[str]) -> Mapping[str, Any]:
    if isinstance(originals, Mapping):
        return {key: originals[key] for key in keys if key in originals}
    return originals.get(keys) if keys else {}


def may_be_folded(wire: Mapping[str, Any]) -> bool:
    """Return whether a record may be a stand-in; a cheap test."""
    return bool(foreign_ids(wire)) or read_said(wire).is_marked


@contextmanager
def locating_errors(document: Document) -> Iterator[None]:
    """Add the file and the line to errors about a message."""
    try:
        yield
    except MessageError as error:
        found = _INDEX.match(error.place)
        line = document.items[int(found[1])].line if found else 0
        where = f"{document.name}, line {line}" if line else document.name
        raise FormatError(str(error), where) from error
