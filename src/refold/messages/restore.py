"""Put originals back in the place of their stand-ins, layer by layer.

A message is unfolded only if a record of refold's says that this very message of this very
conversation is a stand-in. Text that merely reads like one stays what it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from refold.errors import TooManyMessagesError
from refold.messages.chain import Chain
from refold.messages.lookup import Lookup, find_linked
from refold.messages.provenance import ID_KEY, Provenance, looks_folded, read_provenance, seal_of
from refold.messages.wire import clone_message, digest
from refold.result import UncompressResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """Which provenance is believed."""

    conversation: str | None = None
    """The name of the conversation, which is part of what ties a stand-in to its originals."""
    accepts_foreign: bool = False
    """Whether to believe provenance of other tools, which cannot be checked."""

    def links_in(self, messages: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the key of each message of a view that reads like a stand-in; empty for others."""
        chain = Chain(self.conversation)
        return [chain.link_of(message) for message in messages]


_ROOM: Final = 1_000
"""How many messages may always be restored, however small the fold."""
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
    place: int = 0
    """Its place among those behind the same stand-in, or in what was given."""
    is_gone: bool = False
    """Whether it was found behind a message that turned out to be a copy of a stand-in."""
    firsts: int = 0
    """How many messages with an id are behind it and behind nothing further ahead."""
    provenance: Provenance | None = None
    originals: list[_Item] | None = None
    """The messages it stands for, if all were found."""

    def is_within(self, key: str) -> bool:
        """Tell whether it was found under *key*, or stood behind what was."""
        item: _Item | None = self
        while item is not None and item.key != key:
            item = item.parent
        return item is not None

    def reading_place(self) -> list[int]:
        """Return where it stands in reading order: before whatever has a greater one."""
        places: list[int] = []
        item: _Item | None = self
        while item is not None:
            places.append(item.place)
            item = item.parent
        return places[::-1]


@dataclass(slots=True)
class _Count:
    """How much was restored so far, and the limit."""

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
    times: Counter[str] = field(default_factory=Counter[str])
    """How often each message was found behind a stand-in, by its digest."""
    first: dict[object, _Item] = field(default_factory=dict)
    """By the names that `_named` gives them, those that are first in reading order."""
    given: dict[str | None, _Item] = field(default_factory=dict)
    """By id, what was given."""
    digests: dict[str | None, str] = field(default_factory=dict)
    """By id, the digests of what was given, derived when first needed."""

    def add(self, provenance: Provenance) -> None:
        """Count what one stand-in stands for; `TooManyMessagesError` if that is too much."""
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

    def is_copy(self, item: _Item, originals: Sequence[_Item], digests: Sequence[str]) -> bool:
        """Tell whether *item* is a copy of a stand-in; note what it stands for, for later ones.

        Somebody may paste, with its id and its seal, what an earlier view has shown. It stands for
        messages that stand further ahead, and in a conversation there is one message with an id.
        Often the copy is known first: before what is behind the stand-ins ahead of it.
        """
        self.times.update(digests)
        named = _named(originals, digests)
        for name, original in named:
            known = self._first(name, original)
            if known is None or original.reading_place() < known.reading_place():
                self.first[name] = original
                item.firsts += 1
                if known is not None and known.parent is not None:
                    self._displace(known.parent)
        return bool(named) and self._is_second(item, originals, digests)

    def _displace(self, item: _Item) -> None:
        """Note that one of the messages behind *item* stands further ahead."""
        item.firsts -= 1
        if item.originals is None or item.provenance is None:
            return
        if self._is_second(item, item.originals, item.provenance.digests):
            self.take_back(item)

    def _is_second(self, item: _Item, originals: Sequence[_Item], digests: Sequence[str]) -> bool:
        """Tell whether all that *item* stands for stands further ahead; without ids, elsewhere."""
        if item.link or item.firsts:  # of what has a link, its place tells
            return False
        pairs = zip(originals, digests, strict=True)
        return all(self.times[name] > 1 for one, name in pairs if _id_of(one.wire) is None)

    def _first(self, name: object, original: _Item) -> _Item | None:
        """Return the first message of this name so far: found, or given as it is."""
        known = self.first.get(name)
        if known is not None and not known.is_gone:
            return known
        id_ = _id_of(original.wire)
        shown = self.given.get(id_)
        if shown is None or shown.provenance is not None:
            return None
        if id_ not in self.digests:
            self.digests[id_] = digest(shown.wire)
        return shown if self.digests[id_] == name else None

    def take_back(self, copy: _Item) -> None:
        """Undo the unfolding of a message that has turned out to be a copy."""
        copy.provenance = None
        waiting = [copy]
        while waiting:
            item = waiting.pop()
            for original in item.originals or ():
                original.is_gone = True
                waiting.append(original)
            if item.originals is not None:
                self.messages -= len(item.originals) - 1
                self.expanded -= 1
                item.originals = None


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
    items = _items(messages, keys)
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
    """Return the provenance of the stand-ins among *messages*."""
    keys = trust.links_in(messages) if links is None else links
    items = _items(messages, keys)
    _find_provenance(items, lookup, trust, _Count(len(items)))
    return [item.provenance for item in items if item.provenance is not None]


def find_inner_folds(
    messages: Sequence[Mapping[str, Any]], lookup: Lookup, trust: Trust
) -> list[Provenance]:
    """Return the provenance of stand-ins behind those of a view, layer by layer.

    What was folded by one manager after another may still show a mark of an earlier one.
    """
    keys = trust.links_in(messages)
    layer = _items(messages, keys)
    count = _Count(len(layer), listed=len(layer))
    layer = _unfold_layer(layer, lookup, trust, count)
    found: list[Provenance] = []
    while layer:
        behind = _unfold_layer(layer, lookup, trust, count)
        found += [item.provenance for item in layer if item.provenance is not None]
        layer = behind
    return found


def unfold_all(linked: Linked, lookup: Lookup, trust: Trust, most: int) -> list[Linked]:
    """Return all messages that one message of a view stands for; itself if it is no stand-in.

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


def _id_of(wire: Mapping[str, Any]) -> str | None:
    id_ = wire.get(ID_KEY)
    return id_ if isinstance(id_, str) else None


def _named(originals: Sequence[_Item], digests: Sequence[str]) -> list[tuple[object, _Item]]:
    """Return those of *originals* that came with an id, by their digests.

    Stand-ins among them are left out, or named together where there is nothing else: a copy of one
    may be folded like any other message, and is then behind two.
    """
    pairs = zip(originals, digests, strict=True)
    with_ids = [(name, one) for one, name in pairs if _id_of(one.wire) is not None]
    plain = [(name, one) for name, one in with_ids if read_provenance(one.wire) is None]
    return [*plain] if plain or not with_ids else [(tuple(digests), originals[0])]


def _items(messages: Sequence[Mapping[str, Any]], links: Sequence[str]) -> list[_Item]:
    pairs = enumerate(zip(messages, links, strict=True))
    return [_Item(message, link, place=place) for place, (message, link) in pairs]


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
    for item in given:
        count.given.setdefault(_id_of(item.wire), item)
    layer = _unfold_layer(given, lookup, trust, count)
    while recursive and layer:
        layer = _unfold_layer(layer, lookup, trust, count)
    return _leaves(given)


def _claims(wire: Mapping[str, Any]) -> bool:
    """Tell whether a message looks like one of ours, whether it is or not."""
    return read_provenance(wire) is not None or looks_folded(wire)


def _unfold_layer(
    layer: Sequence[_Item], lookup: Lookup, trust: Trust, count: _Count
) -> list[_Item]:
    """Find what each stand-in of a *layer* stands for; return all of that, the next layer."""
    _find_provenance(layer, lookup, trust, count)
    found = lookup.originals([item.provenance for item in layer if item.provenance])
    behind: list[_Item] = []
    for item in layer:
        if item.provenance is not None and not item.is_gone:
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
    sealed: dict[str, list[tuple[_Item, Provenance]]] = {}
    for item in items:
        claimed = read_provenance(item.wire)
        if item.is_gone:
            continue
        if item.link:
            linked.append(item)
        elif claimed is not None and claimed.digests:
            seal = seal_of(item.wire, claimed, trust.conversation)
            sealed.setdefault(seal, []).append((item, claimed))
        elif trust.accepts_foreign:
            item.provenance = claimed
    believed = lookup.are_sealed({seal: claims[0][1] for seal, claims in sealed.items()})
    for seal, claims in sealed.items():
        for item, claimed in claims:
            if seal in believed:
                item.provenance = claimed
            elif claimed.seal == seal:  # it is as it was written, so this store is not all there is
                count.missing.update(dict.fromkeys(claimed.ids))
    found = find_linked([item.link for item in linked], lookup.links)
    for item in linked:
        item.provenance = found.get(item.link)


def _originals_of(
    item: _Item,
    provenance: Provenance,
    found: Mapping[str, Any],
    lookup: Lookup,
    count: _Count,
) -> list[_Item] | None:
    """Return all originals behind a stand-in; `None` if any is missing, which is noted."""
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
            originals.append(_Item(wire, provenance.link_at(place), key, item, place))
    if not complete:
        return None
    if provenance.digests and count.is_copy(item, originals, provenance.digests):
        return None
    count.add(provenance)
    return originals


def _checked(wire: object, provenance: Provenance, place: int) -> Mapping[str, Any] | None:
    """Return an original if it matches the digest in its stand-in: never a wrong text."""
    if not isinstance(wire, Mapping):
        return None
    if provenance.digests and digest(wire) != provenance.digests[place]:
        return None
    return wire
