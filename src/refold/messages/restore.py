"""Put originals back in the place of their stand-ins.

What a view stands for is looked up by what the view says, and all of it is put back at once; text
that merely reads like a stand-in stays what it is. A stand-in comes back as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from refold.errors import TooManyMessagesError
from refold.messages.manifest import (
    ALL,
    NOTHING,
    Behind,
    Get,
    Trail,
    Wording,
    folds_in,
    handle_key,
    read_wording,
    stand_in_key,
)
from refold.messages.wire import FOLD_PREFIX, Wire, clone_message, digest, id_of
from refold.result import UncompressResult

_ROOM: Final = 1_000
"""How many messages may always be restored, however small the fold."""
_TIMES: Final = 100
"""So many for each message that was given or is named: more are records that unfold into others."""
_ROUNDS: Final = 10_000
"""Folds by somebody who did not know of the one before; with a store it is a single round."""


@dataclass
class _Item:
    """A message on its way back."""

    wire: Wire
    place: int
    """The place of the given message that it is, or was behind."""
    known: int = NOTHING
    """How much was known when it was settled what it is: `SOME` may still be known by its id."""

    @cached_property
    def wording(self) -> Wording:
        """What it says; of most that come back, nobody asks."""
        return read_wording(self.wire, index=self.place)


@dataclass(slots=True)
class Leaves:
    """Originals behind folds, each looked up once."""

    get: Get
    most: int | None = None
    """How many messages may come out; `None` to go by how many the records name."""
    messages: int = 0
    listed: int = 0
    missing: dict[str, None] = field(default_factory=dict[str, None])
    folds: dict[str, Behind] = field(default_factory=dict[str, Behind])
    wires: dict[str, Wire] = field(default_factory=dict[str, Wire])

    def fetch(self, folds: Iterable[str]) -> None:
        """Look up *folds* with all that is below them, and their originals, layer by layer."""
        ids, seen, layer = dict[str, str](), set[str](), dict.fromkeys(folds)
        while layer:
            seen |= layer.keys()
            fresh = folds_in([key for key in layer if key not in self.folds], self.get)
            self.folds |= fresh
            self.listed += sum(len(behind.of) for behind in fresh.values())
            below: dict[str, None] = {}
            for behind in [self.folds[key] for key in layer if key in self.folds]:
                ids |= zip(behind.of, behind.ids, strict=True)
                below |= dict.fromkeys((*behind.of, *behind.below))
            layer = {k: None for k in below if k.startswith(FOLD_PREFIX) and k not in seen}
        wanted = ids.keys() - self.wires.keys() - seen
        kept = self.get(wanted) if wanted else {}
        by_id = {ids[key] for key in wanted - kept.keys()}
        named = self.get(by_id) if by_id else {}  # a mapping has originals by their ids
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
                behind = self.folds[key]
                waiting += zip(reversed(behind.of), reversed(behind.ids), strict=True)
            else:
                named.append((key, id_))
            self.check(len(named))
        originals = [(key, id_) for key, id_ in named if key in self.wires]
        self.missing |= {id_: None for key, id_ in named if key not in self.wires}
        return originals if originals and (partial or len(originals) == len(named)) else None

    def check(self, more: int) -> None:
        """Raise `TooManyMessagesError` if so many messages *more* are too many."""
        most = _ROOM + _TIMES * self.listed if self.most is None else self.most
        if self.messages + more > most:
            raise TooManyMessagesError(
                f"unfolding gives more than {most} messages, though the records that were read "
                f"name only {self.listed}; pass max_messages=… if that is intended"
            )


def restore(
    messages: Sequence[Wire],
    get: Get,
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
    leaves = Leaves(get, max_messages, len(items), len(items))
    expanded, used, is_done, unknown = 0, set[str](), False, tuple(range(len(items)))
    for _ in range(_ROUNDS):
        trail = Trail.named(conversation)
        for item in () if is_done else items:
            trail.add(item.wording)
        leaves.missing |= dict.fromkeys(trail.read(get))
        end, top = trail.known[-1] if trail.known else (-1, "")
        if top and top not in used:
            used.add(top)
            at, is_done = dict(trail.stands), trail.looked == ALL
            leaves.fetch(at.values())
            for item in items[: end + 1]:  # so far it is known what is a stand-in, and how well
                item.known = max(item.known, trail.looked)
        else:
            at, unknown = _settle(items, trail.scope, leaves, is_edited=edited)
        if not at:
            break
        after: list[_Item] = []
        for place, item in enumerate(items):
            originals = leaves.of(at[place], partial=partial) if place in at else None
            if originals is None:
                item.known = ALL if place in at else item.known  # what is gone is reported
                after.append(item)
                continue
            expanded += 1
            leaves.messages += len(originals) - 1
            after += [_Item(leaves.wires[key], item.place, item.known) for key, _ in originals]
        items = after
    return UncompressResult(
        messages=[clone_message(item.wire) for item in items],
        messages_expanded=expanded,
        messages_passthrough=len(messages) - expanded,
        missing_ids=list(leaves.missing),
        unknown=unknown,
        is_known=bool(used) or expanded > 0,
        places=tuple([item.place for item in items]),
    )


def _settle(
    items: Sequence[_Item], scope: str, leaves: Leaves, *, is_edited: bool
) -> tuple[dict[int, str], tuple[int, ...]]:
    """Return what is a stand-in though no view is known, and which given messages may be another.

    It is known by its id and words or, in a view that *is_edited*, by its handles. What stands for
    messages that are there already is a copy.
    """
    marked = {n: i for n, i in enumerate(items) if i.known != ALL and i.wording.is_marked}
    handle_keys = {n: [handle_key(scope, h) for h in i.wording.handles] for n, i in marked.items()}
    keys = {n: handle_keys[n] if is_edited else [] for n in marked}
    for n, item in marked.items():
        if (id_ := id_of(item.wire)) is not None:
            keys[n] = [stand_in_key(scope, id_, item.wording), *keys[n]]
    wanted = {key for of_one in (*keys.values(), *handle_keys.values()) for key in of_one if scope}
    known = (leaves.get(wanted) if wanted else {}).items()
    kept = {key: fold for key, fold in known if fold and isinstance(fold, str)}
    leaves.fetch(kept.values())
    quiet = replace(leaves, most=None, missing={})  # what a copy stands for does not count
    names = {f: [_name_of(leaves.wires[k]) for k, _ in quiet.of(f) or ()] for f in {*kept.values()}}
    there = {_name_of(item.wire) for item in items if not item.wording.is_marked} if kept else set()
    # What came out of a stand-in is there for what was given after it, whatever it reads like.
    settled = {
        _name_of(i.wire) for i in items if kept and i.known != NOTHING and i.wording.is_marked
    }
    copied = {key for key, fold in kept.items() if _is_copy(names[fold], there)}
    folds = {n: kept[key] for n in marked for key in reversed(keys[n]) if key in kept}
    at: dict[int, str] = {}
    for n, fold in sorted(folds.items(), key=lambda one: (-len(names[one[1]]), one[0])):
        is_input = items[n].known == NOTHING
        if not names[fold]:
            leaves.of(fold)  # says what is missing
        elif not (_is_copy(names[fold], there) or (is_input and _is_copy(names[fold], settled))):
            there.update(names[fold])
            at[n] = fold
    # A digest may quote others, so all of its handles must be known.
    proven = {n for n, of_one in handle_keys.items() if of_one and copied.issuperset(of_one)}
    doubtful = (n for n, item in marked.items() if item.known == NOTHING and n not in proven)
    return at, tuple(sorted({items[n].place for n in doubtful}))


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
