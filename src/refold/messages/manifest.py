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

What a message says is its role, its texts, its calls and what they answer. Metadata, names, media,
thinking, marks of caches, unknown fields and the order of keys are not in it, nor ids but those of
tags that show no handle: so a view is still the same after a database or a provider has had it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Self

from refold.errors import MessageError, StoreError
from refold.messages.formats import check_end, recognize
from refold.messages.message import Message, read_json
from refold.messages.wire import (
    FOLD_PREFIX,
    ID_KEY,
    METADATA_KEY,
    digest_unordered,
    letters_of,
    name,
    spell,
)
from refold.notation.marks import ANCHOR_CHARS
from refold.notation.recognize import find_handles, has_tag

Get = Callable[[Iterable[str]], Mapping[str, Any]]
"""Fetches the records that are kept under some keys."""
_VIEW: Final = "refold:view:"
_HANDLE: Final = "refold:handle:"
_STAND_IN: Final = "refold:stand-in:"
RECORD_PREFIXES: Final = (FOLD_PREFIX, _VIEW, _HANDLE, _STAND_IN)
_SEAL_CHARS: Final = 16
"""64 bits in hexadecimal: they find damage, and nobody who forges is kept out by them."""
_MOST_BELOW: Final = 24
"""Folds below that a record lists, to be fetched together: 400 folds are 17 round trips then."""
NOTHING: Final = 0
SOME: Final = 1
ALL: Final = 2
"""What was known of the stand-ins that were there when a view was folded: of none without a store;
of some, or there was neither: then there may be more to find elsewhere; of all."""


class Wording(NamedTuple):
    """What one message says."""

    key: str
    """A hash of its role, texts and calls."""
    is_instruction: bool
    """Whether it is a system prompt, which does not count where it opens a conversation."""
    is_marked: bool
    """Whether it reads like a stand-in."""
    may_be_stripped: bool
    """Whether thinking may have been left out of it: that shows no mark."""
    handles: tuple[str, ...]
    """What its marks show, if it reads like a stand-in."""


def read_wording(
    wire: Mapping[str, Any], message: Message | None = None, index: int = 0
) -> Wording:
    """Return what *wire* says; *message* is how it was read already, if it was.

    Raises `MessageError` for data that contains itself.
    """
    if message is not None and message.wording is not None:
        return message.wording
    if message is None:
        check_end(wire, index)
    read, format_ = message, recognize([wire])  # each by itself, however its conversation was read
    if read is None or read.format != format_.name or read.is_fixed:
        try:
            read = format_.read(wire, "")
        except MessageError:  # no message of any shape: then all of it counts
            bare = {k: v for k, v in wire.items() if k not in (ID_KEY, METADATA_KEY)}
            key, text = name("all", digest_unordered(bare)), spell(wire)
            return Wording(key, False, has_tag(text), False, tuple(find_handles(text)))
    content = [read.role]
    for part in read.parts:
        if text := part.text.strip():
            kind = ("text",) if part.call_id is None else ("result", str(part.call_id))
            content += (*kind, text)
    for call in read.calls:
        content += ("call", str(call.id), str(call.name), call.canonical_arguments)
    texts = [*(part.text for part in read.parts), *(call.spelled for call in read.calls)]
    is_marked = any(map(has_tag, texts))
    handles = tuple(find_handles("\n".join(texts))) if is_marked else ()
    if is_marked and not handles:
        content += ("id", str(wire.get(ID_KEY)))  # a tag without a handle may read like another one
    is_instruction = read.role in ("system", "developer")
    may_be_stripped = read.role == "assistant" and isinstance(wire.get(format_.blocks), list)
    known = Wording(name("said", *content), is_instruction, is_marked, may_be_stripped, handles)
    if message is not None:
        message.wording = known
    return known


class Behind(NamedTuple):
    """What a stand-in stands for."""

    fold: str
    """The key of the fold, which follows from its children."""
    of: tuple[str, ...] = ()
    """Its children in reading order: digests of originals, and keys of older folds."""
    ids: tuple[str, ...] = ()
    """The ids of these messages."""
    below: tuple[str, ...] = ()
    """Keys of folds further down, as far as they are known: only to fetch them together."""

    @classmethod
    def made(cls, of: Sequence[str], ids: Sequence[str], below: Sequence[str] = ()) -> Self:
        """Return what stands for these children."""
        key = FOLD_PREFIX + name("fold", *of)
        return cls(key, tuple(of), tuple(ids), tuple(below[:_MOST_BELOW]))

    def to_record(self) -> str:
        """Spell it for a store: as text, which no garbage collector has to look into."""
        record = {"of": self.of, "ids": self.ids}
        return spell({**record, "below": self.below} if self.below else record)

    @classmethod
    def from_record(cls, key: str, record: object) -> Self | None:
        """Read it back; `None` for whatever is not what was written under *key*."""
        data = _read_record(record)
        of, ids, below = (texts_in(data.get(field)) for field in ("of", "ids", "below"))
        behind = cls.made(of, ids if len(ids) == len(of) else of, below)
        return behind if of and behind.fold == key else None


@dataclass(slots=True)
class Trail:
    """A view from its beginning on: a key for each message, and what is known of it so far."""

    scope: str
    """The name of the conversation; empty without one."""
    keys: list[str] = field(default_factory=list[str])
    lead: int = 0
    """How many messages of the system stand in front: they do not count."""
    marked: list[int] = field(default_factory=list[int])
    """Places that read like stand-ins."""
    asked: list[int] = field(default_factory=list[int])
    """Places that may have a record: these, and where thinking may have been left out."""
    stands: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Places of messages that stand for others, and their folds."""
    known: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Records of this view: the place where each ends, and its key."""
    looked: int = ALL
    """What whoever wrote these knew of the stand-ins that were there before."""

    @classmethod
    def named(cls, conversation: str | None) -> Trail:
        """Return the empty trail of a conversation."""
        return cls("" if conversation is None else f"={conversation}")

    def copy(self, length: int | None = None) -> Trail:
        """Return an independent copy of the first *length* places, or of all."""
        size = len(self.keys) if length is None else length
        return replace(
            self,
            keys=self.keys[:size],
            lead=min(self.lead, size),
            marked=self.marked[: bisect_left(self.marked, size)],
            asked=self.asked[: bisect_left(self.asked, size)],
            stands=self.stands[: bisect_left(self.stands, (size,))],
            known=self.known[: bisect_left(self.known, (size,))],
        )

    def since(self, first: int) -> list[tuple[int, str]]:
        """Return the places from *first* on that stand for others, and their folds."""
        return self.stands[bisect_left(self.stands, (first,)) :]

    def add(self, wording: Wording, fold: str = "") -> None:
        """Go on with the next message, and the fold that it stands for."""
        place = len(self.keys)
        key = self.keys[-1] if place else name("scope", self.scope)
        if self.lead == place and wording.is_instruction and not wording.is_marked:
            self.lead += 1
        else:
            key = name("view", key, wording.key)
            if wording.is_marked:
                self.marked.append(place)
            if wording.is_marked or (wording.may_be_stripped and (self.scope or self.marked)):
                self.asked.append(place)
        self.keys.append(key)
        if fold:
            self.stands.append((place, fold))

    def read(self, get: Get, first: int = 0) -> list[str]:
        """Find out which messages are stand-ins, by the longest beginning that is a known view.

        Only records that end at *first* or later are looked for. Returns the keys of those that are
        gone or damaged.
        """
        asked = [_VIEW + self.keys[place] for place in self.asked[bisect_left(self.asked, first) :]]
        there = get(asked) if asked else {}
        top = next((key for key in reversed(asked) if key in there), "")
        if not top:
            return []
        self.looked = ALL
        stands, known, lost = dict(self.stands), list[tuple[int, str]](), list[str]()
        places = range(self.lead - 1, len(self.keys))  # by the number after the system prompt
        for key, record in _records(top, there, get):
            try:
                at = {places[count]: fold for count, fold in record["at"]}
                known.append((places[record["count"]], key.removeprefix(_VIEW)))
                self.looked = min(self.looked, record["looked"])
                stands |= at
            except (LookupError, TypeError, ValueError):  # gone, damaged, or not of this version
                lost.append(key)
                break
        self.known, self.stands = known[::-1], sorted(stands.items())
        return lost

    def look(self, get: Get | None, first: int = 0) -> None:
        """Read as `read` does what came from *first* on, and note how much was known of it."""
        if get is not None:
            self.read(get, first)
        is_open = not {*self.marked[bisect_left(self.marked, first) :]} <= {
            *dict(self.since(first))
        }
        self.looked = min(self.looked, ALL - is_open - (get is None))


class ViewRow(NamedTuple):
    """A message of a view to be written."""

    wording: Wording
    behind: Behind | None
    is_new: bool = False
    """Whether it is a stand-in that was written now."""
    id: str | None = None


def write_view(trail: Trail, rows: Sequence[ViewRow]) -> tuple[dict[str, str], dict[str, int]]:
    """Add *rows* to a trail; return its new records, and which row each may clash for.

    Originals are the caller's to keep: they come first in a store, and these last.
    """
    records: dict[str, str] = {}
    owners: dict[str, int] = {}
    for number, (wording, behind, is_new, id_) in enumerate(rows):
        fold = "" if behind is None else behind.fold
        trail.add(wording, fold)
        if behind is None or not is_new:
            continue
        if trail.asked[-1:] != [len(trail.keys) - 1]:
            raise StoreError("a stand-in that shows no mark could never be restored")
        if behind.of:
            records[fold] = behind.to_record()
        least = 0 if trail.scope else ANCHOR_CHARS
        handles = [h for h in wording.handles if len(h) >= least and h == letters_of(fold, len(h))]
        names = [handle_key(trail.scope, handle) for handle in handles]
        if trail.scope and id_ is not None:
            names.append(stand_in_key(trail.scope, id_, wording))
        for key in names:
            owners.setdefault(key, number)
            records.setdefault(key, fold)
    end, before = trail.known[-1] if trail.known else (-1, "")
    asked = {*trail.asked[bisect_left(trail.asked, end + 1) :]}
    new = trail.since(end + 1)
    while new and new[-1][0] not in asked:
        new.pop()  # what shows nothing after the last mark is not looked for
    if new:
        at = [(place - trail.lead + 1, fold) for place, fold in new]
        last, key = new[-1][0], trail.keys[new[-1][0]]
        text = spell({"before": before, "count": at[-1][0], "at": at, "looked": trail.looked})
        records[_VIEW + key] = _sealed(key, text)
        trail.known.append((last, key))
    return records, owners


def find_clash(records: Mapping[str, Any], owners: Mapping[str, int], get: Get) -> int | None:
    """Return the row whose stand-in needs another handle, as a store has other records than these.

    That is -1 if it is the whole view that stands for something else, and `None` if all is well.
    """
    keys = [*owners, *(key for key in records if key.startswith(_VIEW))]
    there = get(keys) if keys else {}
    for key in (key for key in keys if there.get(key, records[key]) != records[key]):
        if key in owners:
            return owners[key]
        both = [[*_records(key, known, get)] for known in (there, records)]
        one, other = ([at for _, r in reversed(its) for at in r.get("at", ())] for its in both)
        if one != other:  # however many records say it
            return -1
    return None


def _records(key: str, there: Mapping[str, Any], get: Get) -> Iterator[tuple[str, Any]]:
    """Yield the records of a view, the last one first; `{}` for one that is gone or damaged."""
    seen = {_VIEW}
    while key not in seen:  # a forged one may go round in a circle
        seen.add(key)
        kept = there.get(key) or get([key]).get(key)
        text = kept[_SEAL_CHARS:] if isinstance(kept, str) else ""
        record = _read_record(text) if kept == _sealed(key.removeprefix(_VIEW), text) else {}
        yield key, record
        key = _VIEW + record.get("before", "")


def _sealed(key: str, text: str) -> str:
    """Return the record of a view after a sum that says whether it is as it was written."""
    return name("sum", key, text)[:_SEAL_CHARS] + text


def handle_key(scope: str, handle: str) -> str:
    """Return where the fold with a handle is kept."""
    return _HANDLE + name("handle", scope, handle)


def stand_in_key(scope: str, id_: str, wording: Wording) -> str:
    """Return where the fold behind a message with an id is kept."""
    return _STAND_IN + name("stand-in", scope, id_, wording.key)


def folds_in(keys: Iterable[str], get: Get) -> dict[str, Behind]:
    """Return the folds with these keys that are kept, as they were written."""
    wanted = [key for key in dict.fromkeys(keys) if key.startswith(FOLD_PREFIX)]
    kept = get(wanted) if wanted else {}
    return {k: behind for k, record in kept.items() if (behind := Behind.from_record(k, record))}


def _read_record(record: object) -> Mapping[str, Any]:
    """Return the data of a record; nothing for what is none."""
    data = read_json(record) if isinstance(record, str) else record
    return data if isinstance(data, Mapping) else {}


def texts_in(value: object) -> tuple[str, ...]:
    """Return a list of texts as it was read; nothing for what is none."""
    items = value if isinstance(value, list | tuple) else ()
    return tuple(items) if all(isinstance(item, str) for item in items) else ()
