"""Fold and unfold whole files: the library folds the messages, this keeps the bytes around them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from refold.api import find_lookup
from refold.cli.document import Document, Item
from refold.cli.terminal import Progress
from refold.engine import Engine, scoped
from refold.errors import FormatError, MessageError, StoreError
from refold.llm.ask import run
from refold.messages.formats import check_list
from refold.messages.json_style import Style, says
from refold.messages.provenance import looks_folded, read_provenance
from refold.messages.restore import Linked, Trust, unfold_once
from refold.messages.wire import clone_message, digest
from refold.options import Options
from refold.report.turns import align
from refold.result import Result
from refold.stores import Store

LINES_PREFIX: Final = "refold:lines:"
"""The prefix of the keys for the exact spelling of folded records: a hash of all the text up to
their stand-in. Each spelling has its round of folding, since files are unfolded round by round."""

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
    missing: dict[str, None] = field(default_factory=dict[str, None])

    @property
    def in_vain(self) -> int:
        """How many records look like stand-ins but could not be unfolded."""
        return sum(item.is_final and not item.above for item in self.document.items)


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
    items: list[Item] = []
    places: list[range] = []
    folded: dict[str, tuple[Item, ...]] = {}
    turns_after = 0
    chain = _Chain()
    for place, wire in align(document.messages, result, document.conversation):
        sources = document.items[place.start : place.stop]
        is_kept = wire is sources[0].wire
        raw = sources[0].raw if is_kept else document.style.dump(wire)
        key = chain.add(raw)
        items.append(Item(raw=raw, wire=wire, gap=sources[-1].gap))
        places.append(place)
        turns_after += any(is_turn[place.start : place.stop])
        if not is_kept:
            folded[key] = sources
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
        self._hash = hashlib.blake2b(digest_size=16)

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
    earlier = _look_up(store, list(_candidates(document).values()))
    round_ = 1 + max(map(_round, earlier.values()), default=0)
    spellings = {
        key: {
            "round": round_,
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


def unfold_file(document: Document, originals: Originals, *, one_layer: bool) -> UnfoldedFile:
    """Put the originals back, round by round, each round exactly as its file was.

    The library could unfold everything at once, but the spelling of the records below a round is
    found only with the whole file of that round. *originals* are those of this conversation.
    """
    with locating_errors(document):
        check_list(document.messages)
    trust = Trust(conversation=document.conversation)
    links = trust.links_in(document.messages)
    items = [replace(item, link=link) for item, link in zip(document.items, links, strict=True)]
    state = UnfoldedFile(document=document.with_items(items))
    while keys := _candidates(state.document):
        state.document = state.document.with_items(list(_unfold_round(state, keys, originals)))
        if one_layer:
            break
    return state


def _candidates(document: Document) -> dict[int, str]:
    """Return the positions of possible stand-ins, with the keys of their spellings."""
    chain = _Chain()
    keys = [chain.add(item.raw) for item in document.items]
    return {
        place: keys[place]
        for place, item in enumerate(document.items)
        if not item.is_final and may_be_folded(item.wire)
    }


def _unfold_round(
    state: UnfoldedFile, keys: Mapping[int, str], originals: Originals
) -> Iterator[Item]:
    """Unfold what the latest round folded, or everything if no round is known."""
    entries = _look_up(originals, list(keys.values()))
    latest = max(map(_round, entries.values()), default=0)
    lookup = find_lookup(originals, None)
    trust = Trust(conversation=state.document.conversation)
    for place, item in enumerate(state.document.items):
        key = keys.get(place)
        if key is None or _round(entries.get(key)) != latest:
            yield item
            continue
        name = digest(item.wire)
        found, missing = unfold_once((item.wire, item.link), lookup, trust)
        state.missing.update(dict.fromkeys(missing))
        if found is None or name in item.above:
            yield replace(item, is_final=True)
            continue
        state.expanded += 1
        yield from _respell(item, found, entries.get(key), state.document, name)


def _round(entry: object) -> int:
    number = entry.get("round") if isinstance(entry, Mapping) else None
    return number if isinstance(number, int) else 0


def _respell(
    item: Item,
    found: Sequence[Linked],
    entry: object,
    document: Document,
    name: str,
) -> Iterator[Item]:
    """Yield the records behind *item* as they were spelled, or in the style of their file."""
    wires = [clone_message(wire) for wire, _ in found]
    spelled = _spellings_of(wires, entry, item.gap)
    if spelled is None:
        gaps = [*[document.gap] * (len(wires) - 1), item.gap]
        spelled = [(document.style.dump(wire), gap) for wire, gap in zip(wires, gaps, strict=True)]
    for wire, (_, link), (raw, gap) in zip(wires, found, spelled, strict=True):
        yield Item(raw=raw, wire=wire, gap=gap, link=link, above=item.above | {name})


def _look_up(originals: Originals, keys: Sequence[str]) -> Mapping[str, Any]:
    if isinstance(originals, Mapping):
        return {key: originals[key] for key in keys if key in originals}
    return originals.get(keys) if keys else {}


def may_be_folded(wire: Mapping[str, Any]) -> bool:
    """Return whether a record may be a stand-in; a cheap test."""
    return read_provenance(wire) is not None or looks_folded(wire)


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
