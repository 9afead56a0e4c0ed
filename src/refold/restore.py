"""Put originals back in the place of their stand-ins, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from refold.errors import TooManyMessagesError
from refold.model.provenance import TAG, Provenance, link_key, read_provenance
from refold.model.wire import clone_message, digest, spell
from refold.result import UncompressResult


class Lookup(Protocol):
    """Finds originals, whatever they are kept in."""

    def links(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the provenance that is known for stand-ins which cannot carry it."""
        ...

    def originals(self, wanted: Sequence[Provenance]) -> Mapping[str, Any]:
        """Return originals, under the keys that `key_of` gives them."""
        ...

    def key_of(self, provenance: Provenance, place: int) -> str:
        """Return the key of the original at *place* of *provenance*."""
        ...


_ROOM: Final = 1_000
_TIMES: Final = 100


def most_messages(listed: int) -> int:
    """Return how many messages may come out of records that list so many.

    A record lists every message behind it, so what comes out is about as much as is listed; more
    only where equal messages share a record. A hundred times as much is nobody's conversation but
    a few records that unfold into each other.
    """
    return _ROOM + _TIMES * listed


@dataclass(slots=True)
class _Item:
    """A message on its way back."""

    wire: Mapping[str, Any]
    key: str = ""
    """The key under which it was found; empty for what was given."""
    parent: _Item | None = None
    """The stand-in that it was behind."""
    provenance: Provenance | None = None
    originals: list[_Item] | None = None
    """What is behind it, if all of that was found."""

    def is_within(self, key: str) -> bool:
        """Tell whether it was found under *key*, or stood behind what was."""
        item: _Item | None = self
        while item is not None and item.key != key:
            item = item.parent
        return item is not None


@dataclass(slots=True)
class _Count:
    """What has come out so far, and what may."""

    messages: int
    most: int | None
    """How many messages the caller allows; `None` to go by what is listed."""
    listed: int = 0
    """Messages that were given, or that a record names; equal records count once."""
    expanded: int = 0
    missing: dict[str, None] = field(default_factory=dict)
    records: set[tuple[str, ...]] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    """Keys of stand-ins that were unfolded."""

    def add(self, provenance: Provenance) -> None:
        """Count what one stand-in stands for, or refuse it: it would be too much."""
        record = provenance.digests or provenance.ids
        if record not in self.records:
            self.records.add(record)
            self.listed += len(record)
        self.messages += len(record) - 1
        self.expanded += 1
        most = most_messages(self.listed) if self.most is None else self.most
        if self.messages > most:
            raise TooManyMessagesError(
                f"unfolding gives more than {most} messages, though the records that were read "
                f"name only {self.listed}; pass max_messages=… if that is what they stand for"
            )


def restore(
    messages: Sequence[Mapping[str, Any]],
    lookup: Lookup,
    *,
    recursive: bool,
    max_messages: int | None = None,
) -> UncompressResult:
    """Unfold *messages*; what cannot be found is reported and its stand-in stays.

    `StoreError` if that gives more than *max_messages*; see `most_messages` for the default.
    """
    given = [_Item(message) for message in messages]
    count = _Count(len(given), max_messages, listed=len(given))
    layer = _unfold(given, lookup, count)
    while recursive and layer:
        layer = _unfold(layer, lookup, count)
    items = _leaves(given)
    return UncompressResult(
        messages=[clone_message(item.wire) for item in items],
        messages_expanded=count.expanded,
        messages_passthrough=sum(item.parent is None for item in items),
        missing_ids=list(count.missing),
        messages_unknown=sum(item.provenance is None and looks_folded(item.wire) for item in items),
    )


def _unfold(layer: Sequence[_Item], lookup: Lookup, count: _Count) -> list[_Item]:
    """Find what is behind each stand-in of a *layer*; return all of that, the next layer."""
    _find_provenance(layer, lookup)
    found = lookup.originals([item.provenance for item in layer if item.provenance])
    behind: list[_Item] = []
    for item in layer:
        if item.provenance is not None:
            item.originals = _originals_of(item, item.provenance, found, lookup, count)
            behind += item.originals or ()
    return behind


def _leaves(items: Sequence[_Item]) -> list[_Item]:
    """Return what has nothing behind it, in reading order."""
    leaves: list[_Item] = []
    waiting = list(reversed(items))
    while waiting:
        item = waiting.pop()
        if item.originals is None:
            leaves.append(item)
        else:
            waiting.extend(reversed(item.originals))
    return leaves


def _find_provenance(items: Iterable[_Item], lookup: Lookup) -> None:
    """Read provenance from metadata, or by content where a message cannot carry it."""
    unlinked: dict[str, list[_Item]] = {}
    for item in items:
        item.provenance = read_provenance(item.wire)
        if item.provenance is None and looks_folded(item.wire):
            unlinked.setdefault(link_key(digest(item.wire)), []).append(item)
    for key, wire in lookup.links(unlinked).items():
        for item in unlinked[key]:
            item.provenance = Provenance.from_wire(wire)


def looks_folded(wire: Mapping[str, Any]) -> bool:
    """Tell cheaply whether *wire* may hold one of our tags."""
    content = wire.get("content")
    has_calls = wire.get("tool_calls") or wire.get("function_call")
    text = content if isinstance(content, str) and not has_calls else spell(wire)
    return TAG.search(text) is not None


def _originals_of(
    item: _Item,
    provenance: Provenance,
    found: Mapping[str, Any],
    lookup: Lookup,
    count: _Count,
) -> list[_Item] | None:
    """Return the originals behind a stand-in: all of them, or none and a note of what lacks."""
    originals: list[_Item] = []
    complete = True
    count.opened.add(item.key)
    for place, id_ in enumerate(provenance.ids):
        key = lookup.key_of(provenance, place)
        wire = _checked(found.get(key), provenance, place)
        # What was never unfolded cannot be above: so nobody need look, however deep it is.
        if wire is None or (key in count.opened and item.is_within(key)):
            count.missing.setdefault(id_)
            complete = False
        else:
            originals.append(_Item(wire, key, item))
    if not complete:
        return None
    count.add(provenance)
    return originals


def _checked(wire: object, provenance: Provenance, place: int) -> Mapping[str, Any] | None:
    """Return an original that matches the digest of its stand-in: never a wrong text."""
    if not isinstance(wire, Mapping):
        return None
    if provenance.digests and digest(wire) != provenance.digests[place]:
        return None
    return wire


class MappingLookup:
    """Looks originals up by id in a mapping or with a function."""

    def __init__(self, source: Mapping[str, Any] | Callable[[str], Any]) -> None:
        self._source = source

    def _get(self, key: str) -> Any:
        if isinstance(self._source, Mapping):
            return self._source.get(key)
        return self._source(key)

    def links(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the links that the mapping has."""
        return {key: wire for key in keys if (wire := self._get(key)) is not None}

    def originals(self, wanted: Sequence[Provenance]) -> Mapping[str, Any]:
        """Return originals by id."""
        ids = dict.fromkeys([id_ for provenance in wanted for id_ in provenance.ids])
        return {id_: wire for id_ in ids if (wire := self._get(id_)) is not None}

    def key_of(self, provenance: Provenance, place: int) -> str:
        """Return the id."""
        return provenance.ids[place]


class StoreLookup:
    """Looks originals up by content in a store."""

    def __init__(self, get: Callable[[Iterable[str]], Mapping[str, Any]]) -> None:
        self._get = get

    def links(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the links that the store has."""
        return self._get(keys)

    def originals(self, wanted: Sequence[Provenance]) -> Mapping[str, Any]:
        """Return originals by digest."""
        return self._get(
            dict.fromkeys([digest_ for provenance in wanted for digest_ in provenance.digests])
        )

    def key_of(self, provenance: Provenance, place: int) -> str:
        """Return the digest; provenance of other tools has none, so its id has to do."""
        return provenance.digests[place] if provenance.digests else provenance.ids[place]
