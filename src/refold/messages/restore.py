"""Put originals back in the place of their stand-ins.

What a view stands for is looked up by what the view says, and all of it is put back at once; text
that merely reads like a stand-in stays what it is. A stand-in comes back as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, NamedTuple

from refold.errors import TooManyMessagesError
from refold.messages.manifest import (
    ALL,
    NOTHING,
    Behind,
    Get,
    Said,
    Trail,
    folds_in,
    handle_key,
    id_of,
    read_said,
    stand_in_key,
)
from refold.messages.wire import FOLD_PREFIX, Wire, clone_message, digest, spell
from refold.notation.recognize import find_handles
from refold.result import UncompressResult

_ROOM: Final = 1_000
"""How many messages may always be restored, however small the fold."""
_TIMES: Final = 100
"""How many times as many messages may be restored as were given and are named by records: more is
nobody's conversation but a few records that unfold into each other."""
_ROUNDS: Final = 10_000
"""Folds by somebody who did not know of the one before; with a store it is a single round."""


class Source(NamedTuple):
    """Where records and originals are: a store, or a mapping such as `Result.verbatim`."""

    get: Get
    has_ids: bool = False
    """Whether originals are kept by their ids, too."""


@dataclass
class _Item:
    """A message on its way back."""

    wire: Wire
    place: int
    """The place of the given message that it is, or was behind."""
    known: int = NOTHING
    """How much was known when it was settled what it is: `SOME` may still be known by its id."""

    @cached_property
    def said(self) -> Said:
        """What it says; of most that come back, nobody asks."""
        return read_said(self.wire, index=self.place)

    @property
    def handles(self) -> list[str]:
        """The handles that it shows."""
        return find_handles(spell(self.wire))


@dataclass(slots=True)
class Leaves:
    """Originals behind folds, each looked up once."""

    source: Source
    most: int | None = None
    """How many messages may come out; `None` to go by how many the records name."""
    messages: int = 0
    listed: int = 0
    missing: dict[str, None] = field(default_factory=dict[str, None])
    folds: dict[str, Behind] = field(default_factory=dict[str, Behind])
    wires: dict[str, Wire] = field(default_factory=dict[str, Wire])

    def find(self, keys: Set[str]) -> dict[str, str]:
        """Return the folds that are kept under these keys; look up what is behind them."""
        known = self.source.get(keys) if keys else {}
        folds = {key: fold for key, fold in known.items() if fold and isinstance(fold, str)}
        self.fetch(folds.values())
        return folds

    def fetch(self, folds: Iterable[str]) -> None:
        """Look up *folds* with all that is below them, and their originals, layer by layer."""
        ids: dict[str, str] = {}
        seen: set[str] = set()
        layer = dict.fromkeys(folds)
        while layer:
            seen |= layer.keys()
            fresh = folds_in([key for key in layer if key not in self.folds], self.source.get)
            self.folds |= fresh
            self.listed += sum(len(behind.of) for behind in fresh.values())
            below: dict[str, None] = {}
            for behind in [self.folds[key] for key in layer if key in self.folds]:
                ids |= zip(behind.of, behind.ids, strict=True)
                below |= dict.fromkeys((*behind.of, *behind.below))
            layer = {k: None for k in below if k.startswith(FOLD_PREFIX) and k not in seen}
        wanted = ids.keys() - self.wires.keys() - seen
        kept = self.source.get(wanted) if wanted else {}
        by_id = {ids[key] for key in wanted - kept.keys() if self.source.has_ids}
        named = self.source.get(by_id) if by_id else {}
        for key in wanted:
            wire = kept[key] if key in kept else named.get(ids[key])
            if isinstance(wire, Mapping) and digest(wire) == key:
                self.wires[key] = wire

    def of(self, fold: str, *, partial: bool = False) -> list[tuple[str, str]] | None:
        """Return digests and ids of all originals behind *fold*; `None` if any is missing.

        With *partial*, those that are there. `TooManyMessagesError` if too many are named.
        """
        named, waiting = list[tuple[str, str]](), [(fold, fold)]
        while waiting:
            key, id_ = waiting.pop()
            if key in self.folds:
                self.check(len(named))
                behind = self.folds[key]
                waiting += zip(reversed(behind.of), reversed(behind.ids), strict=True)
            else:
                named.append((key, id_))
        self.check(len(named))
        originals = [(key, id_) for key, id_ in named if key in self.wires]
        self.missing |= {id_: None for key, id_ in named if key not in self.wires}
        return originals if originals and (partial or len(originals) == len(named)) else None

    def names(self, fold: str) -> list[str]:
        """Return what identifies the originals behind *fold*, if all are there."""
        return [_name_of(self.wires[key]) for key, _ in self.of(fold) or ()]

    def check(self, more: int) -> None:
        """Raise `TooManyMessagesError` if so many messages *more* are too many."""
        most = _ROOM + _TIMES * self.listed if self.most is None else self.most
        if self.messages + more > most:
            raise TooManyMessagesError(
                f"unfolding gives more than {most} messages, though the records that were read "
                f"name only {self.listed}; pass max_messages=… if that is what they stand for"
            )


def restore(
    messages: Sequence[Wire],
    source: Source,
    *,
    conversation: str | None = None,
    edited: bool = False,
    partial: bool = False,
    max_messages: int | None = None,
) -> UncompressResult:
    """Unfold *messages*; what cannot be found is reported and its stand-in stays.

    With *edited*, stand-ins of a named conversation are also known by their handles, since the
    caller says that this is a view; with *partial*, what is left of one takes its place.
    """
    items = [_Item(message, place) for place, message in enumerate(messages)]
    leaves = Leaves(source, max_messages, len(items), len(items))
    expanded, used, is_done = 0, set[str](), False
    for _ in range(_ROUNDS):
        trail = Trail.named(conversation)
        for item in () if is_done else items:
            trail.add(item.said)
        leaves.missing |= dict.fromkeys(trail.read(source.get))
        end, top = trail.known[-1] if trail.known else (-1, "")
        if top and top not in used:  # up to its end it is known what is a stand-in, and how well
            used.add(top)
            at, sure = dict(trail.stands), trail.looked
            is_done = sure == ALL
            leaves.fetch(at.values())
        else:
            at = _find_edited(items, trail.scope, leaves, by_handle=edited) if trail.scope else {}
            end, sure = -1, NOTHING
        if not at:
            break
        after: list[_Item] = []
        for place, item in enumerate(items):
            if place <= end:
                item.known = max(item.known, sure)
            originals = leaves.of(at[place], partial=partial) if place in at else None
            if originals is not None:
                expanded += 1
                leaves.messages += len(originals) - 1
                after += [_Item(leaves.wires[key], item.place, item.known) for key, _ in originals]
                continue
            if place in at:
                item.known = ALL  # known for what it is, and reported
            after.append(item)
        items = after
    return UncompressResult(
        messages=[clone_message(item.wire) for item in items],
        messages_expanded=expanded,
        messages_passthrough=len(messages) - expanded,
        missing_ids=list(leaves.missing),
        unknown=_find_unknown(items, trail.scope, leaves),
        is_known=bool(used) or expanded > 0,
        places=tuple([item.place for item in items]),
    )


def _find_edited(
    items: Sequence[_Item], scope: str, leaves: Leaves, *, by_handle: bool
) -> dict[int, str]:
    """Find stand-ins of a view that was edited: by their ids and words, or by their handles.

    What stands for messages that are there already is a copy.
    """
    keys: dict[int, list[str]] = {}
    for place, item in enumerate(items):
        if item.known != ALL and item.said.is_marked:
            id_ = id_of(item.wire)
            keys[place] = [] if id_ is None else [stand_in_key(scope, id_, item.said)]
            if by_handle:
                keys[place] += [handle_key(scope, handle) for handle in item.handles]
    kept = leaves.find({key for of_one in keys.values() for key in of_one})
    first = {place: next(filter(kept.get, of_one), "") for place, of_one in keys.items()}
    folds = {place: kept[key] for place, key in first.items() if key}
    names = {fold: leaves.names(fold) for fold in dict.fromkeys(folds.values())}
    there = _names_of(items) if folds else set()
    at: dict[int, str] = {}
    for place in sorted(folds, key=lambda place: (-len(names[folds[place]]), place)):
        fold = folds[place]
        if names[fold] and not _is_copy(names[fold], there):
            there.update(names[fold])
            at[place] = fold
    return at


def _find_unknown(items: Sequence[_Item], scope: str, leaves: Leaves) -> tuple[int, ...]:
    """Return the places of messages that may be stand-ins: all that are no proven copies."""
    marked = [
        (item.place, {handle_key(scope, handle) for handle in item.handles})
        for item in items
        if item.known == NOTHING and item.said.is_marked
    ]
    leaves = replace(leaves, most=None, missing={})  # what a copy stands for does not count
    folds = leaves.find({key for _, keys in marked for key in keys}) if scope else {}
    there = _names_of(items) if folds else set()
    copied = {key for key, fold in folds.items() if _is_copy(leaves.names(fold), there)}
    # A digest may quote others, so all of its handles must be known.
    return tuple(sorted({place for place, keys in marked if not keys or not keys <= copied}))


def _names_of(items: Sequence[_Item]) -> set[str]:
    """Return what identifies the messages that are no stand-ins."""
    return {_name_of(item.wire) for item in items if not item.said.is_marked}


def _name_of(wire: Wire) -> str:
    """Return what identifies a message: its id, or the digest of one without any."""
    return digest(wire) if (id_ := id_of(wire)) is None else f"id:{id_}"


def _is_copy(names: Sequence[str], there: Set[str]) -> bool:
    """Tell whether what stands for messages of these names is a copy, since they are *there*.

    There is one message with an id; of those without, people say the same twice: half must be.
    """
    bare = [name in there for name in names if not name.startswith("id:")]
    ids = (name for name in names if name.startswith("id:"))
    return not there.isdisjoint(ids) or 0 < len(bare) <= 2 * sum(bare)
