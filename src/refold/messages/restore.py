"""Put originals back in the place of their stand-ins.

What a view stands for is looked up by what the view says, and all of it is put back at once; text
that merely reads like a stand-in stays what it is. A stand-in comes back as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Final, NamedTuple

from refold.errors import TooManyMessagesError
from refold.messages.manifest import (
    ALL,
    NOTHING,
    Source,
    Trail,
    folds_in,
    handle_key,
    id_of,
    stand_in_key,
)
from refold.messages.message import Message
from refold.messages.provenance import FOLD_PREFIX, Behind, foreign_ids
from refold.messages.said import Said, read_said
from refold.messages.wire import clone_message, digest, spell
from refold.notation.recognize import find_handles
from refold.result import UncompressResult

Wire = Mapping[str, Any]
_ROOM: Final = 1_000
"""How many messages may always be restored, however small the fold."""
_TIMES: Final = 100
"""How many times as many messages may be restored as were given and are named by records: more is
nobody's conversation but a few records that unfold into each other."""
_ROUNDS: Final = 10_000
"""Folds by somebody who did not know of the one before; with a store it is a single round."""


class Original(NamedTuple):
    """An original behind a fold."""

    id: str
    wire: Wire


@dataclass(slots=True)
class _Item:
    """A message on its way back."""

    wire: Wire
    place: int
    """The place of the given message that it is, or was behind."""
    known: int = NOTHING
    """How much was known when it was settled what it is: `SOME` may still be known by its id."""
    _said: Said | None = None

    @property
    def said(self) -> Said:
        """What it says, read when first asked for: of most that come back, nobody asks."""
        if self._said is None:
            self._said = read_said(self.wire, index=self.place)
        return self._said


@dataclass(slots=True)
class _Leaves:
    """Originals behind folds, each looked up once."""

    source: Source
    most: int | None = None
    """How many messages may come out; `None` to go by how many the records name."""
    messages: int = 0
    listed: int = 0
    missing: dict[str, None] = field(default_factory=dict[str, None])
    folds: dict[str, Behind] = field(default_factory=dict[str, Behind])
    wires: dict[str, Wire] = field(default_factory=dict[str, Wire])

    def fetch(self, folds: Iterable[str]) -> None:
        """Look up *folds* with all that is below them, and their originals, layer by layer."""
        ids: dict[str, str] = {}
        seen: set[str] = set()
        count = 0
        layer = dict.fromkeys(folds)
        while layer:
            seen |= layer.keys()
            fresh = [key for key in layer if key not in self.folds]
            self.folds |= folds_in(fresh, self.source.get)
            known = [self.folds[key] for key in layer if key in self.folds]
            self.listed += sum(len(self.folds[key].of) for key in fresh if key in self.folds)
            for behind in known:
                ids |= dict(zip(behind.of, behind.ids, strict=True))
                count += sum(not key.startswith(FOLD_PREFIX) for key in behind.of)
            if self.most is not None and count > self.most:
                raise self.too_many()  # whatever else there is
            below = (key for behind in known for key in (*behind.of, *behind.below))
            layer = dict.fromkeys(k for k in below if k.startswith(FOLD_PREFIX) and k not in seen)
        wanted = ids.keys() - self.wires.keys() - seen
        for key, wire in self.source.originals({key: ids[key] for key in wanted}).items():
            if isinstance(wire, Mapping) and digest(wire) == key:
                self.wires[key] = wire

    def of(self, fold: str, *, partial: bool = False) -> list[tuple[str, str]] | None:
        """Return digests and ids of all originals behind *fold*; `None` if any is missing.

        With *partial*, those that are there. `TooManyMessagesError` if they are too many.
        """
        originals: list[tuple[str, str]] = []
        complete, waiting = True, [(fold, fold)]
        while waiting:
            key, id_ = waiting.pop()
            behind = self.folds.get(key)
            if behind is not None:
                waiting += zip(reversed(behind.of), reversed(behind.ids), strict=True)
            elif key in self.wires:
                originals.append((key, id_))
            else:
                self.missing[id_], complete = None, False
            if self.messages + len(originals) > self.limit:
                raise self.too_many()
        return originals if complete or (partial and originals) else None

    @property
    def limit(self) -> int:
        """How many messages may come out."""
        return _ROOM + _TIMES * self.listed if self.most is None else self.most

    def too_many(self) -> TooManyMessagesError:
        """Return the error that says that more than so many messages would come out."""
        return TooManyMessagesError(
            f"unfolding gives more than {self.limit} messages, though the records that were read "
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
    items = _items_of(messages)
    leaves = _Leaves(source, max_messages, len(items), len(items))
    items, expanded, is_known = _unfold(items, leaves, conversation, edited, partial)
    marked = [item for item in items if item.known == NOTHING and item.said.is_marked]
    return UncompressResult(
        messages=[clone_message(item.wire) for item in items],
        messages_expanded=expanded,
        messages_passthrough=len(messages) - expanded,
        missing_ids=list(leaves.missing),
        unknown=_find_unknown(marked, items, conversation, leaves),
        is_known=is_known,
        places=tuple([item.place for item in items]),
    )


def _unfold(
    items: list[_Item], leaves: _Leaves, conversation: str | None, edited: bool, partial: bool
) -> tuple[list[_Item], int, bool]:
    """Put back all that is known of a view, and of what was a view below it.

    Also returns how many stand-ins that were, and whether anything was known.
    """
    expanded, used, is_done = 0, set[str](), False
    for _ in range(_ROUNDS):
        trail = _trail_of(items, conversation)
        lost = [] if is_done else trail.read(leaves.source.get)
        leaves.missing.update(dict.fromkeys(lost))
        end, top = trail.known[-1] if trail.known else (-1, "")
        if top and top not in used:
            used.add(top)
            at = {stand.place: stand.fold for stand in trail.stands}
            is_done = trail.looked == ALL
        else:
            end, trail.looked = -1, ALL
            at = _find_edited(items, trail.scope, leaves, by_handle=edited) if conversation else {}
        if not at:
            break
        items, count = _expand(items, at, leaves, settled=(end, trail.looked), partial=partial)
        expanded += count
    return items, expanded, bool(used) or expanded > 0


def _items_of(messages: Iterable[Wire]) -> list[_Item]:
    return [_Item(message, place) for place, message in enumerate(messages)]


def _trail_of(items: Iterable[_Item], conversation: str | None) -> Trail:
    trail = Trail.named(conversation)
    for item in items:
        trail.add(item.said)
    return trail


def _expand(
    items: Sequence[_Item],
    at: Mapping[int, str],
    leaves: _Leaves,
    *,
    settled: tuple[int, int] = (-1, NOTHING),
    partial: bool,
) -> tuple[list[_Item], int]:
    """Put the originals of the folds *at* some places there; count those places.

    *settled* says up to which place it is known what is a stand-in, and how well.
    """
    leaves.fetch(at.values())
    end, sure = settled
    after: list[_Item] = []
    count = 0
    for place, item in enumerate(items):
        found = leaves.of(at[place], partial=partial) if place in at else None
        known = max(item.known, sure) if place <= end else item.known
        if found is None:
            item.known = ALL if place in at else known  # known for what it is, and reported
            after.append(item)
            continue
        count += 1
        leaves.messages += len(found) - 1
        after += [_Item(leaves.wires[name], item.place, known) for name, _ in found]
    return after, count


def _find_edited(
    items: Sequence[_Item], scope: str, leaves: _Leaves, *, by_handle: bool
) -> dict[int, str]:
    """Find stand-ins of a view that was edited: by their ids and words, or by their handles.

    What stands for messages that are there already is a copy.
    """
    wanted: dict[int, list[str]] = {}
    for place, item in enumerate(items):
        if item.known == ALL or not item.said.is_marked:
            continue
        id_ = id_of(item.wire)
        keys = [] if id_ is None else [stand_in_key(scope, id_, item.said)]
        if by_handle:
            keys += [handle_key(scope, handle) for handle in _handles_in(item)]
        if keys:
            wanted[place] = keys
    found = leaves.source.get({key for keys in wanted.values() for key in keys}) if wanted else {}
    folds = {
        place: fold
        for place, keys in wanted.items()
        if (fold := next((found[key] for key in keys if isinstance(found.get(key), str)), None))
    }
    if not folds:
        return {}
    leaves.fetch(folds.values())
    behind = {fold: leaves.of(fold) or [] for fold in dict.fromkeys(folds.values())}
    there = _there(item.wire for item in items if not item.said.is_marked)
    at: dict[int, str] = {}
    for place in sorted(folds, key=lambda place: (-len(behind[folds[place]]), place)):
        fold = folds[place]
        originals = behind.pop(fold, [])  # a second one is a copy
        if originals and not _is_copy(originals, leaves, there):
            there |= _there(leaves.wires[key] for key, _ in originals)
            at[place] = fold
    return at


def _find_unknown(
    marked: Sequence[_Item], items: Sequence[_Item], conversation: str | None, leaves: _Leaves
) -> tuple[int, ...]:
    """Return the places of messages that may be stand-ins: all that are no proven copies."""
    if not marked:
        return ()
    scope = Trail.named(conversation).scope
    keys = {
        handle: handle_key(scope, handle)
        for item in marked
        if conversation is not None
        for handle in _handles_in(item)
    }
    found = leaves.source.get(keys.values()) if keys else {}
    folds = {h: fold for h, key in keys.items() if isinstance(fold := found.get(key), str)}
    leaves = replace(leaves, most=None, missing={})  # what a copy stands for does not count
    leaves.fetch(folds.values())
    there = _there(one.wire for one in items if not one.said.is_marked) if folds else set[str]()
    behind = {handle: leaves.of(fold) for handle, fold in folds.items()}
    copied = {h for h, found in behind.items() if found and _is_copy(found, leaves, there)}
    handles = [(one.place, set(_handles_in(one))) for one in marked]  # a digest may quote others
    return tuple(sorted({place for place, its in handles if not its or not its <= copied}))


def _handles_in(item: _Item) -> list[str]:
    return find_handles(spell(item.wire))


def _there(wires: Iterable[Wire]) -> set[str]:
    """Return what identifies these messages: their ids, and the digests of those without any."""
    return {digest(wire) if (id_ := id_of(wire)) is None else f"id:{id_}" for wire in wires}


def _is_copy(originals: Sequence[tuple[str, str]], leaves: _Leaves, there: Set[str]) -> bool:
    """Tell whether what stands for *originals* is a copy, since they are *there*.

    There is one message with an id; of those without, people say the same twice: half must be.
    """
    ids = [id_of(leaves.wires[key]) for key, _ in originals]
    if any(id_ is not None and f"id:{id_}" in there for id_ in ids):
        return True
    bare = [key in there for (key, _), id_ in zip(originals, ids, strict=True) if id_ is None]
    return bool(bare) and 2 * sum(bare) >= len(bare)


def find_behind(trail: Trail, messages: Sequence[Message], source: Source) -> tuple[Message, ...]:
    """Return *messages*, the last ones of a trail that was read, with what they stand for."""
    start = len(trail.keys) - len(messages)
    new = takewhile(lambda stand: stand.place >= start, reversed(trail.stands))
    at = {stand.place: stand.fold for stand in new}
    known = folds_in(at.values(), source.get) if at else {}
    return tuple(
        message.changed(stands_for=known.get(at[place], Behind(at[place])))
        if place in at
        else message
        for place, message in enumerate(messages, start)
    )


def folds_behind(
    messages: Sequence[Wire], source: Source, conversation: str | None
) -> list[Behind]:
    """Return the folds of a view and, after them, all that are below: what a handle may name."""
    trail = _trail_of(_items_of(messages), conversation)
    trail.read(source.get)
    leaves = _Leaves(source)
    leaves.fetch(stand.fold for stand in trail.stands)
    return list(leaves.folds.values())


def restore_fold(
    fold: str, source: Source, most: int | None = None
) -> tuple[list[Original], list[str]]:
    """Return all originals behind one fold, or the ids of those that are missing.

    `TooManyMessagesError` if there are more than *most*: no more than those are looked up.
    """
    leaves = _Leaves(source, most)
    leaves.fetch([fold])
    found = leaves.of(fold) or []
    originals = [Original(id_, leaves.wires[key]) for key, id_ in found]
    return originals, list(leaves.missing)


def accept_foreign(
    messages: Sequence[Wire], source: Source, max_messages: int | None = None
) -> tuple[list[Wire], int, list[str]]:
    """Replace stand-ins that other tools wrote by the messages with the ids that they name.

    Nothing about them can be checked. Returns the messages, how many were replaced, and the ids
    that are missing.
    """
    restored: list[Wire] = []
    leaves, expanded, seen = _Leaves(source, max_messages), 0, set[tuple[str, ...]]()
    leaves.listed = len(messages)
    waiting: list[tuple[Wire, frozenset[str]]] = [(m, frozenset()) for m in reversed(messages)]
    while waiting:
        wire, above = waiting.pop()
        ids = foreign_ids(wire)
        found = source.get(ids) if ids else {}
        is_deep = len(above) >= _ROOM
        lost = [i for i in ids if i in above or is_deep or not isinstance(found.get(i), Mapping)]
        leaves.missing |= dict.fromkeys(lost)
        if not ids or lost:
            restored.append(wire)
            continue
        expanded += 1
        leaves.listed += 0 if ids in seen else len(ids)
        seen.add(ids)
        waiting += [(found[i], above | {i}) for i in reversed(ids)]
        if len(restored) + len(waiting) > leaves.limit:
            raise leaves.too_many()
    return restored, expanded, list(leaves.missing)
