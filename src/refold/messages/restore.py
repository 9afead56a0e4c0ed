"""Put originals back in the place of their stand-ins, layer by layer.

A message is unfolded only if a record of refold's says that this very message of this very
conversation is a stand-in. Text that merely reads like one stays what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from refold.errors import TooManyMessagesError
from refold.messages.provenance import (
    Chain,
    Provenance,
    find_noted,
    looks_folded,
    read_alias,
    read_link,
    read_provenance,
    seal_key,
    seal_of,
)
from refold.messages.wire import clone_message, digest
from refold.result import UncompressResult

_MAX_ALIASES: Final = 10_000
"""As often as a stand-in may have been carried over from one fold to the next."""


class Lookup(Protocol):
    """Finds originals, whatever they are kept in."""

    def links(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the records that are known under *keys*."""
        ...

    def link_of_one(self, wire: Mapping[str, Any], link: str) -> str:
        """Return the key for a message given alone; *link* if it is the first of a view."""
        ...

    def are_sealed(self, seals: Mapping[str, Provenance]) -> set[str]:
        """Return which of *seals*, that the provenance carried by messages must have, are true."""
        ...

    def originals(self, wanted: Sequence[Provenance]) -> Mapping[str, Any]:
        """Return originals, under the keys that `key_of` gives them."""
        ...

    def key_of(self, provenance: Provenance, place: int) -> str:
        """Return the key of the original at *place* of *provenance*."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What is taken for provenance."""

    conversation: str | None = None
    """The name of the conversation, which is part of what ties a stand-in to its originals."""
    accepts_foreign: bool = False
    """Whether provenance of other tools is believed, which has nothing that could be checked."""

    def links_in(self, messages: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the key of each message of a view that reads like a stand-in; empty for others."""
        chain = Chain(self.conversation)
        return [chain.link_of(message) for message in messages]


_ROOM: Final = 1_000
"""What small folds may come to in any case."""
_TIMES: Final = 100
"""See `most_messages`."""


def most_messages(listed: int) -> int:
    """Return how many messages may come out of records that list so many.

    A record lists every message behind it, so what comes out is about as much as is listed; more
    only where equal messages share a record. A hundred times as much is nobody's conversation but
    a few records that unfold into each other.
    """
    return _ROOM + _TIMES * listed


Linked = tuple[Mapping[str, Any], str]
"""A message, and the key of its provenance if it may be a stand-in that cannot carry any."""


@dataclass(slots=True)
class _Item:
    """A message on its way back."""

    wire: Mapping[str, Any]
    link: str = ""
    """The key of its provenance, if it reads like a stand-in and cannot carry any."""
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
    most: int | None = None
    """How many messages the caller allows; `None` to go by what is listed."""
    listed: int = 0
    """Messages that were given, or that a record names; equal records count once."""
    expanded: int = 0
    missing: dict[str, None] = field(default_factory=dict)
    records: set[tuple[str, ...]] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    """Keys of stand-ins that were unfolded."""
    used: set[str] = field(default_factory=set)
    """Seals of messages that were unfolded: a copy of one is no stand-in."""

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
    trust: Trust | None = None,
    links: Sequence[str] | None = None,
) -> UncompressResult:
    """Unfold *messages*; what cannot be found is reported and its stand-in stays.

    *links* are the keys of messages that are no whole view, as `Trust.links_in` gives them.
    `StoreError` if that gives more than *max_messages*; see `most_messages` for the default.
    """
    trust = trust or Trust()
    keys = trust.links_in(messages) if links is None else links
    if len(messages) == 1 and keys[0]:
        keys = [lookup.link_of_one(messages[0], keys[0])]
    items = [_Item(message, key) for message, key in zip(messages, keys, strict=True)]
    count = _Count(len(items), max_messages, listed=len(items))
    return _told(_unfold(items, lookup, trust, count, recursive=recursive), count)


def restore_fold(provenance: Provenance, lookup: Lookup, trust: Trust) -> UncompressResult:
    """Return all originals behind one stand-in that was found, unfolded themselves."""
    count = _Count(1, listed=1)
    found = lookup.originals([provenance])
    items = _originals_of(_Item({}), provenance, found, lookup, count)
    return _told(_unfold(items or [], lookup, trust, count, recursive=True), count)


def find_folds(
    messages: Sequence[Mapping[str, Any]],
    lookup: Lookup,
    trust: Trust,
    *,
    links: Sequence[str] | None = None,
) -> list[Provenance]:
    """Return what those of *messages* stand for that are stand-ins."""
    keys = trust.links_in(messages) if links is None else links
    items = [_Item(message, key) for message, key in zip(messages, keys, strict=True)]
    _find_provenance(items, lookup, trust, _Count(len(items)))
    return [item.provenance for item in items if item.provenance is not None]


def find_inner_folds(
    messages: Sequence[Mapping[str, Any]], lookup: Lookup, trust: Trust
) -> list[Provenance]:
    """Return what the stand-ins stand for that are behind those of a view, layer by layer.

    What was folded by one manager after another may still show a mark of an earlier one.
    """
    keys = trust.links_in(messages)
    layer = [_Item(message, key) for message, key in zip(messages, keys, strict=True)]
    count = _Count(len(layer), listed=len(layer))
    layer = _unfold_layer(layer, lookup, trust, count)
    found: list[Provenance] = []
    while layer:
        behind = _unfold_layer(layer, lookup, trust, count)
        found += [item.provenance for item in layer if item.provenance is not None]
        layer = behind
    return found


def unfold_wholly(linked: Linked, lookup: Lookup, trust: Trust, most: int) -> list[Linked]:
    """Return all that is behind one message of a view; the message itself if there is nothing.

    `StoreError` if that is more than *most* messages.
    """
    count = _Count(1, most, listed=1)
    items = _unfold([_Item(*linked)], lookup, trust, count, recursive=True)
    return [(item.wire, item.link) for item in items]


def unfold_once(
    linked: Linked, lookup: Lookup, trust: Trust
) -> tuple[list[Linked] | None, list[str]]:
    """Return the originals right behind one message of a view, and what is missing of them.

    `None` if the message stands for nothing, or not all of it is there.
    """
    count = _Count(1, listed=1)
    items = _unfold([_Item(*linked)], lookup, trust, count, recursive=False)
    found = [(item.wire, item.link) for item in items] if count.expanded else None
    return found, list(count.missing)


def _told(items: Sequence[_Item], count: _Count) -> UncompressResult:
    return UncompressResult(
        messages=[clone_message(item.wire) for item in items],
        messages_expanded=count.expanded,
        messages_passthrough=sum(item.parent is None for item in items),
        missing_ids=list(count.missing),
        messages_unknown=sum(item.provenance is None and _claims(item.wire) for item in items),
    )


def _unfold(
    given: Sequence[_Item], lookup: Lookup, trust: Trust, count: _Count, *, recursive: bool
) -> list[_Item]:
    """Unfold *given* layer by layer; return what is left, in reading order."""
    layer = _unfold_layer(given, lookup, trust, count)
    while recursive and layer:
        layer = _unfold_layer(layer, lookup, trust, count)
    return _leaves(given)


def _claims(wire: Mapping[str, Any]) -> bool:
    """Tell whether a message looks like one of ours, be it true or not."""
    return read_provenance(wire) is not None or looks_folded(wire)


def _unfold_layer(
    layer: Sequence[_Item], lookup: Lookup, trust: Trust, count: _Count
) -> list[_Item]:
    """Find what is behind each stand-in of a *layer*; return all of that, the next layer."""
    _find_provenance(layer, lookup, trust, count)
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


def _find_provenance(items: Iterable[_Item], lookup: Lookup, trust: Trust, count: _Count) -> None:
    """Find what each item stands for, in its metadata or under its link, and check it."""
    linked: list[_Item] = []
    sealed: dict[str, tuple[_Item, Provenance]] = {}
    for item in items:
        claimed = read_provenance(item.wire)
        if item.link:
            linked.append(item)
        elif claimed is not None and claimed.digests:
            seal = seal_of(item.wire, claimed, trust.conversation)
            if seal not in count.used:
                sealed.setdefault(seal, (item, claimed))
        elif trust.accepts_foreign:
            item.provenance = claimed
    believed = lookup.are_sealed({seal: claimed for seal, (_, claimed) in sealed.items()})
    count.used |= believed
    for seal, (item, claimed) in sealed.items():
        if seal in believed:
            item.provenance = claimed
        elif claimed.seal == seal:  # it is as it was written, so this store is not all there is
            count.missing.update(dict.fromkeys(claimed.ids))
    found = find_linked([item.link for item in linked], lookup.links)
    for item in linked:
        item.provenance = found.get(item.link)


def find_linked(
    keys: Sequence[str], get: Callable[[Iterable[str]], Mapping[str, Any]]
) -> dict[str, Provenance]:
    """Return the provenance that is kept under *keys*, or where the records there refer to."""
    found: dict[str, Provenance] = {}
    wanted: dict[str, list[str]] = {key: [key] for key in keys}
    for _ in range(_MAX_ALIASES):
        if not wanted:
            break
        behind: dict[str, list[str]] = {}
        for key, record in get(list(wanted)).items():
            alias = read_alias(record)
            if alias is not None:
                behind.setdefault(alias, []).extend(wanted[key])
            elif (provenance := read_link(record)) is not None:
                found.update(dict.fromkeys(wanted[key], provenance))
        wanted = behind
    return found


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
            originals.append(_Item(wire, provenance.link_at(place), key, item))
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
    """Looks originals up by id in a mapping or with a function: those of one conversation."""

    def __init__(self, source: Mapping[str, Any] | Callable[[str], Any]) -> None:
        self._source = source

    def _get(self, key: str) -> Any:
        if isinstance(self._source, Mapping):
            return self._source.get(key)
        return self._source(key)

    def links(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the records that the mapping has."""
        return {key: wire for key in keys if (wire := self._get(key)) is not None}

    def link_of_one(self, wire: Mapping[str, Any], link: str) -> str:
        """Return the key of the one stand-in of the conversation that reads like this."""
        if not isinstance(self._source, Mapping) or link in self._source:
            return link
        return find_noted(self._source, wire) or link

    def are_sealed(self, seals: Mapping[str, Provenance]) -> set[str]:
        """Believe provenance that was sealed for its message; a mapping keeps no other records."""
        return {seal for seal, provenance in seals.items() if provenance.seal == seal}

    def originals(self, wanted: Sequence[Provenance]) -> Mapping[str, Any]:
        """Return originals by id."""
        ids = dict.fromkeys([id_ for provenance in wanted for id_ in provenance.ids])
        return {id_: wire for id_ in ids if (wire := self._get(id_)) is not None}

    def key_of(self, provenance: Provenance, place: int) -> str:
        """Return the id."""
        return provenance.ids[place]


class StoreLookup:
    """Looks originals up by content in a store, which may hold those of many conversations."""

    def __init__(self, get: Callable[[Iterable[str]], Mapping[str, Any]]) -> None:
        self._get = get

    def links(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the records that the store has."""
        return self._get(keys)

    def link_of_one(self, wire: Mapping[str, Any], link: str) -> str:  # noqa: ARG002
        """Return *link*: a store of many conversations does not know which one is meant."""
        return link

    def are_sealed(self, seals: Mapping[str, Provenance]) -> set[str]:
        """Believe provenance of which the store knows that refold wrote it."""
        keys = {seal_key(seal): seal for seal in seals}
        return {keys[key] for key in self._get(keys)} if keys else set()

    def originals(self, wanted: Sequence[Provenance]) -> Mapping[str, Any]:
        """Return originals by digest."""
        return self._get(
            dict.fromkeys([digest_ for provenance in wanted for digest_ in provenance.digests])
        )

    def key_of(self, provenance: Provenance, place: int) -> str:
        """Return the digest; provenance that has none finds nothing in a store."""
        return provenance.digests[place] if provenance.digests else ""
