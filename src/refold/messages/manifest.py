"""A view is a value: what it stands for is kept under a key that is rolled over what it says.

Records are only ever added, and none changes:

| key | record |
|---|---|
| digest of an original | the original |
| fold: hash of its children | the children: originals and older folds |
| view: hash of all that is said up to its last stand-in | the fold behind each of its stand-ins |
| handle: hash of the conversation's name and a handle | the fold, to retrieve it |
| stand-in: hash of the name, an id and what is said | the fold, for views that were edited |

So a stand-in that somebody pastes, types or forges has another beginning before it, and is the text
that it is. The system prompt in front is not in the key, since it changes and nobody can type it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final, NamedTuple, Protocol

from refold.errors import StoreError
from refold.messages.provenance import (
    FOLD_PREFIX,
    HANDLE_PREFIX,
    ID_KEY,
    STAND_IN_PREFIX,
    VIEW_PREFIX,
    Behind,
    name,
    read_record,
)
from refold.messages.said import Said
from refold.messages.wire import spell
from refold.notation.marks import ANCHOR_CHARS

Get = Callable[[Iterable[str]], Mapping[str, Any]]
"""Fetches the records that are kept under some keys."""
_SEAL_CHARS: Final = 16
"""64 bits in hexadecimal: they find damage, and nobody who forges is kept out by them."""
_MOST_RECORDS: Final = 1_000_000
"""Records that a view is read from; a key is a hash, so they cannot go round in a circle."""


NOTHING: Final = 0
SOME: Final = 1
ALL: Final = 2
"""What was known of the stand-ins that were there when a view was folded: of none without a store;
of some, or there was neither: then there may be more to find elsewhere; of all."""


class Source(Protocol):
    """Where records and originals are."""

    def get(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the records that are known under *keys*."""
        ...

    def originals(self, wanted: Mapping[str, str]) -> Mapping[str, Any]:
        """Return originals by digest; *wanted* has the id of each."""
        ...


class StoreSource:
    """A store, which has originals by digest."""

    def __init__(self, get: Get) -> None:
        self.get = get

    def originals(self, wanted: Mapping[str, str]) -> Mapping[str, Any]:
        """Return originals by digest."""
        return self.get(wanted) if wanted else {}


class MappingSource:
    """A mapping such as `Result.verbatim`, or a function: it has originals by id, or by digest."""

    def __init__(self, source: Mapping[str, Any] | Callable[[str], Any]) -> None:
        self._get = source.get if isinstance(source, Mapping) else source

    def get(self, keys: Iterable[str]) -> Mapping[str, Any]:
        """Return the records that are known."""
        return {key: value for key in keys if (value := self._get(key)) is not None}

    def originals(self, wanted: Mapping[str, str]) -> Mapping[str, Any]:
        """Return originals by digest; whoever asks checks what an id has led to."""
        found = self.get(wanted)
        by_id = self.get({id_ for digest, id_ in wanted.items() if digest not in found})
        return {
            digest: found[digest] if digest in found else by_id[id_]
            for digest, id_ in wanted.items()
            if digest in found or id_ in by_id
        }


class Stand(NamedTuple):
    """A message of a view that stands for others."""

    place: int
    fold: str


def _place_of(entry: Stand | tuple[int, str]) -> int:
    return entry[0]


@dataclass(slots=True)
class Trail:
    """A view from its beginning on: a key for each message, and what is known of it so far."""

    scope: str
    """The name of the conversation; empty without one."""
    keys: list[str] = field(default_factory=list[str])
    counts: list[int] = field(default_factory=list[int])
    """Messages up to here, without the system prompt in front."""
    asked: list[int] = field(default_factory=list[int])
    """Places that may have a record."""
    stands: list[Stand] = field(default_factory=list[Stand])
    known: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Records of this view: the place where each ends, and its key."""
    looked: int = ALL
    """What whoever wrote these knew of the stand-ins that were there before."""
    marked: list[int] = field(default_factory=list[int])
    """Places that read like stand-ins."""

    @classmethod
    def named(cls, conversation: str | None) -> Trail:
        """Return the empty trail of a conversation."""
        return cls("" if conversation is None else f"={conversation}")

    def copy(self, length: int | None = None) -> Trail:
        """Return an independent copy of the first *length* places, or of all."""
        size = len(self.keys) if length is None else length
        return Trail(
            self.scope,
            self.keys[:size],
            self.counts[:size],
            self.asked[: bisect_left(self.asked, size)],
            self.stands[: bisect_left(self.stands, size, key=_place_of)],
            self.known[: bisect_left(self.known, size, key=_place_of)],
            self.looked,
            self.marked[: bisect_left(self.marked, size)],
        )

    def add(self, said: Said, fold: str = "") -> None:
        """Go on with the next message, and the fold that it stands for."""
        key = self.keys[-1] if self.keys else name("scope", self.scope)
        count = self.counts[-1] if self.counts else 0
        if count or not said.is_instruction or said.is_marked:
            count, key = count + 1, name("view", key, said.key)
            if said.is_marked:
                self.marked.append(len(self.keys))
            if said.is_marked or (said.may_be_stripped and (self.scope or self.marked)):
                self.asked.append(len(self.keys))
        self.keys.append(key)
        self.counts.append(count)
        if fold:
            self.stands.append(Stand(len(self.keys) - 1, fold))

    def read(self, get: Get, first: int = 0) -> list[str]:
        """Find out which messages are stand-ins, by the longest beginning that is a known view.

        Only records that end at *first* or later are looked for. Returns the keys of those that are
        gone or damaged.
        """
        asked = [*takewhile(lambda place: place >= first, reversed(self.asked))]
        records = get([VIEW_PREFIX + self.keys[place] for place in asked]) if asked else {}
        ends = (place for place in asked if VIEW_PREFIX + self.keys[place] in records)
        key = next((self.keys[place] for place in ends), "")
        if not key:
            return []
        place_of: dict[int, int] = {}
        for place, count in enumerate(self.counts):
            place_of.setdefault(count, place)
        known: list[tuple[int, str]] = []
        stands: list[Stand] = []
        looked, lost = ALL, list[str]()
        while key and len(known) < _MOST_RECORDS:
            found = records.get(VIEW_PREFIX + key) or get([VIEW_PREFIX + key]).get(
                VIEW_PREFIX + key
            )
            try:
                record = _unsealed(key, found)
                at = [Stand(place_of[count], fold) for count, fold in reversed(record["at"])]
                known.append((place_of[record["count"]], key))
                looked, key = min(looked, record["looked"]), record["before"]
                stands += at
            except (KeyError, TypeError, ValueError):  # gone, damaged, or not of this version
                lost.append(VIEW_PREFIX + key)
                break
        by_place = {stand.place: stand for stand in (*self.stands, *stands)}
        self.known, self.looked = known[::-1], looked
        self.stands = [by_place[place] for place in sorted(by_place)]
        return lost

    def look(self, get: Get | None, first: int = 0) -> None:
        """Read as `read` does what came from *first* on, and note how much was known of it."""
        if get is None:
            self.looked = min(self.looked, SOME)
        else:
            self.read(get, first)
        stands = {
            stand.place for stand in takewhile(lambda s: s.place >= first, reversed(self.stands))
        }
        marked = takewhile(lambda place: place >= first, reversed(self.marked))
        if any(place not in stands for place in marked):
            self.looked = min(self.looked, NOTHING if get is None else SOME)


class Shown(NamedTuple):
    """A message of a view to be written."""

    said: Said
    behind: Behind | None
    is_new: bool = False
    """Whether it is a stand-in that was written now."""
    id: str | None = None
    handle: str = ""


class Taken(Exception):  # noqa: N818 - no error, but a reason to write it again
    """The handle of the stand-in at a place is in use for something else."""

    def __init__(self, place: int) -> None:
        self.place = place


def write_view(trail: Trail, rows: Sequence[Shown]) -> tuple[dict[str, str], dict[str, int]]:
    """Add *rows* to a trail; return its new records, and which row each may clash for.

    Originals are the caller's to keep: they come first in a store, and these last.
    """
    records: dict[str, str] = {}
    owners: dict[str, int] = {}
    start = len(trail.keys)
    for number, row in enumerate(rows):
        trail.add(row.said, "" if row.behind is None else row.behind.fold)
        if row.behind is None or not row.is_new:
            continue
        if trail.asked[-1:] != [start + number]:
            raise StoreError("a stand-in that shows no mark could never be restored")
        fold = row.behind.fold
        if row.behind.of:
            records[fold] = row.behind.to_record()
        names: list[str] = []
        if row.handle and (trail.scope or len(row.handle) >= ANCHOR_CHARS):
            names.append(handle_key(trail.scope, row.handle))
        if trail.scope and row.id is not None:
            names.append(stand_in_key(trail.scope, row.id, row.said))
        for key in names:
            owners.setdefault(key, number)
            if records.setdefault(key, fold) != fold:
                owners[key] = number
    end, before = trail.known[-1] if trail.known else (-1, "")
    new = trail.stands[bisect_right(trail.stands, end, key=_place_of) :]
    asked = set(trail.asked[bisect_right(trail.asked, end) :])
    last = max((stand.place for stand in new if stand.place in asked), default=-1)
    if last >= 0:  # what shows nothing behind the last mark is not looked for
        at = [[trail.counts[place], fold] for place, fold in new if place <= last]
        key = trail.keys[last]
        records[VIEW_PREFIX + key] = _sealed(
            key,
            {"before": before, "count": trail.counts[last], "at": at, "looked": trail.looked},
        )
        trail.known.append((last, key))
    return records, owners


def check_view(records: Mapping[str, Any], owners: Mapping[str, int], get: Get) -> None:
    """Raise `Taken` if a store has other records under the keys of these."""
    keys = [*owners, *(key for key in records if key.startswith(VIEW_PREFIX))]
    there = get(keys) if keys else {}
    for key in keys:
        if key not in there or there[key] == records[key]:
            continue
        if key in owners:
            raise Taken(owners[key])
        name_ = key.removeprefix(VIEW_PREFIX)
        if _all_at(name_, there[key], get) != _all_at(name_, records[key], get):
            raise Taken(-1)


def handle_key(scope: str, handle: str) -> str:
    """Return where the fold with a handle is kept."""
    return HANDLE_PREFIX + name("handle", scope, handle)


def stand_in_key(scope: str, id_: str, said: Said) -> str:
    """Return where the fold behind a message with an id is kept."""
    return STAND_IN_PREFIX + name("stand-in", scope, id_, said.key)


def id_of(wire: Mapping[str, Any]) -> str | None:
    """Return the id that a message came with."""
    id_ = wire.get(ID_KEY)
    return id_ if isinstance(id_, str) else None


def _sealed(key: str, record: Mapping[str, Any]) -> str:
    """Spell the record of a view, with a sum that says whether it is as it was written."""
    text = spell(record)
    return name("sum", key, text)[:_SEAL_CHARS] + text


def _unsealed(key: str, found: object) -> Any:
    """Return the record of a view; `None` if it is damaged."""
    if not isinstance(found, str):
        return None
    text = found[_SEAL_CHARS:]
    return (
        read_record(text) if found[:_SEAL_CHARS] == name("sum", key, text)[:_SEAL_CHARS] else None
    )


def _all_at(key: str, found: object, get: Get) -> list[Any]:
    """Return what all stand-ins of a view stand for, however many records say it."""
    parts: list[list[Any]] = []
    while key and (record := _unsealed(key, found)) is not None:
        parts.append(record["at"])
        key = record["before"]
        found = get([VIEW_PREFIX + key]).get(VIEW_PREFIX + key) if key else None
    return [stand for part in reversed(parts) for stand in part]


def folds_in(keys: Iterable[str], get: Get) -> dict[str, Behind]:
    """Return the folds with these keys that are kept, as they were written."""
    wanted = [key for key in dict.fromkeys(keys) if key.startswith(FOLD_PREFIX)]
    found = get(wanted) if wanted else {}
    read = {key: Behind.from_record(key, record) for key, record in found.items()}
    return {key: behind for key, behind in read.items() if behind is not None}
