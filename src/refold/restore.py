"""Put originals back in the place of their stand-ins, layer by layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

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
    """A message on its way back, and the originals it was unfolded from."""

    wire: Mapping[str, Any]
    above: frozenset[str] = frozenset()
    provenance: Provenance | None = None
    is_final: bool = False


@dataclass(slots=True)
class _Count:
    expanded: int = 0
    missing: dict[str, None] = field(default_factory=dict)


def restore(
    messages: Sequence[Mapping[str, Any]], lookup: Lookup, *, recursive: bool
) -> UncompressResult:
    """Unfold *messages*; what cannot be found is reported and its stand-in stays."""
    items = [_Item(message) for message in messages]
    count = _Count()
    while True:
        before = count.expanded
        items = _unfold_layer(items, lookup, count)
        if not recursive or count.expanded == before:
            break
    return UncompressResult(
        messages=[clone_message(item.wire) for item in items],
        messages_expanded=count.expanded,
        messages_passthrough=sum(not item.above for item in items),
        missing_ids=list(count.missing),
        messages_unknown=sum(item.provenance is None and looks_folded(item.wire) for item in items),
    )


def _unfold_layer(items: list[_Item], lookup: Lookup, count: _Count) -> list[_Item]:
    """Replace every stand-in whose originals are all there."""
    _find_provenance(items, lookup)
    pending = [item.provenance for item in items if item.provenance and not item.is_final]
    found = lookup.originals(pending)
    restored: list[_Item] = []
    for item in items:
        if item.provenance is None or item.is_final:
            item.is_final = True
            restored.append(item)
            continue
        originals = _originals_of(item, item.provenance, found, lookup, count)
        if originals is None:
            item.is_final = True
            restored.append(item)
        else:
            count.expanded += 1
            restored.extend(originals)
    return restored


def _find_provenance(items: Iterable[_Item], lookup: Lookup) -> None:
    """Read provenance from metadata, or by content where a message cannot carry it."""
    unlinked: dict[str, list[_Item]] = {}
    for item in items:
        if item.is_final:
            continue
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
    for place, id_ in enumerate(provenance.ids):
        key = lookup.key_of(provenance, place)
        wire = _checked(found.get(key), provenance, place)
        if wire is None or key in item.above:
            count.missing.setdefault(id_)
            complete = False
        else:
            originals.append(_Item(wire, item.above | {key}))
    return originals if complete else None


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
