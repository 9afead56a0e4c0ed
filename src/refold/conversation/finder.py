"""Which conversation a list of messages is, found by how the list begins.

A client sends its whole history before every call of a model. The longest beginning of it that was
seen before says which conversation goes on, or where another one branches off from it:

    finder = Finder[Session](most=64)

    names = name_beginnings(messages)
    length, session = finder.find(names, owner)
    if session is None:
        session = Session(…)                       # nothing of it was seen before
    elif length < len(session):
        session = session.fork()                   # the list leaves it after so many messages
        session.truncate(length)
    session.extend(messages[len(session) :])
    view = session.view()
    finder.keep(session, names, owner)             # once all went well

A finder keeps anything: a session, or what holds one. What must be equal beside the messages, such
as a tenant, a model or a format, is the *owner*. A finder is safe to share between threads, what it
keeps is as safe as it is; `take` is for those of which only one call at a time may have one.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Generic, TypeVar

from refold.errors import MessageError
from refold.messages.formats import find_format, recognize
from refold.messages.formats.base import Format
from refold.messages.formats.objects import Objects
from refold.messages.message import Message
from refold.messages.wire import digest

T = TypeVar("T")

_CHECKED: Final = 128
"""How many messages of a long list that is already known are looked at again at each call, by
turns: one that was changed in place is noticed within 160 calls in a list of 20,000."""
_ENDS: Final = 32
"""So many at both ends are looked at again at every call: that is where clients change messages."""
_SIZE: Final = 16
"""Bytes of a name."""


@dataclass(slots=True)
class _Kept(Generic[T]):
    value: T
    owner: Hashable
    names: list[bytes]


class Finder(Generic[T]):
    """The last conversations of this process by how they begin; safe to share between threads."""

    def __init__(self, most: int) -> None:
        """Keep at most so many; the least recently used is forgotten first."""
        self._most = most
        self._kept: OrderedDict[int, _Kept[T]] = OrderedDict()
        """By identity."""
        self._by_name: dict[tuple[Hashable, bytes], _Kept[T]] = {}
        """The one that was last kept with a beginning."""
        self._lock = threading.RLock()  # reentrant: an interrupt may come while it is released

    def __len__(self) -> int:
        """Return how many are kept."""
        return len(self._kept)

    def find(self, names: Sequence[bytes], owner: Hashable = "") -> tuple[int, T | None]:
        """Return how long the longest beginning is that was seen before, and what it belongs to.

        *names* are those of all beginnings of a list, see `name_beginnings`.
        """
        with self._lock:
            for length in range(len(names), 0, -1):
                kept = self._by_name.get((owner, names[length - 1]))
                if kept is not None and self._kept.get(id(kept.value)) is kept:
                    self._kept.move_to_end(id(kept.value))
                    return length, kept.value
        return 0, None

    def take(self, names: Sequence[bytes], owner: Hashable = "") -> tuple[int, T | None]:
        """Do what `find` does, and forget what was found, so that no other call finds it."""
        with self._lock:
            length, value = self.find(names, owner)
            if value is not None:
                self.forget(value)
            return length, value

    def keep(self, value: T, names: Sequence[bytes], owner: Hashable = "") -> None:
        """Keep *value*, to be found by any of the beginnings with these *names*."""
        with self._lock:
            kept = self._kept.get(id(value))
            if kept is None or kept.owner != owner or not _goes_on(names, kept.names):
                self.forget(value)
                kept = _Kept(value, owner, [])
            fresh = names[len(kept.names) :]
            self._by_name.update(((owner, name), kept) for name in fresh)
            kept.names += fresh
            self._kept[id(value)] = kept
            self._kept.move_to_end(id(value))
            while len(self._kept) > self._most:
                self.forget(next(iter(self._kept.values())).value)

    def forget(self, value: T) -> None:
        """Do not find *value* any more."""
        with self._lock:
            kept = self._kept.pop(id(value), None)
            for name in kept.names if kept else ():
                if kept and self._by_name.get((kept.owner, name)) is kept:
                    del self._by_name[kept.owner, name]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._by_name.clear()

    def values(self) -> list[T]:
        """Return what is kept, the most recently used first."""
        with self._lock:
            return [one.value for one in reversed(self._kept.values())]


def _goes_on(names: Sequence[bytes], before: Sequence[bytes]) -> bool:
    """Tell whether a list with these *names* begins with the one that had those *before*."""
    length = len(before)
    return length <= len(names) and (not length or names[length - 1] == before[-1])


def name_beginnings(messages: Sequence[Any], before: Sequence[bytes] = ()) -> list[bytes]:
    """Return a name for each beginning of *messages*: equal beginnings, equal names.

    Only the content of a message counts: frameworks change other fields when they save and load it.
    With names that are known *before*, the messages are those that come after these.
    """
    return _chain([*before], [_name(wire) for wire in Objects().read(messages)])


class Beginnings:
    """Names the beginnings of lists; a list that goes on from the last one costs what is new.

    A message that is the very same object is looked at again by turns, those at both ends every
    time, in case it was changed in place. Safe to share between threads.
    """

    def __init__(self) -> None:
        self._last: tuple[list[Any], list[str], list[bytes]] = ([], [], [])
        """The last list, the digests of its messages, and the names of its beginnings."""
        self._turn = 0
        self._lock = threading.RLock()  # reentrant: an interrupt may come while it is released

    def of(self, messages: Sequence[Any]) -> list[bytes]:
        """Do what `name_beginnings` does."""
        with self._lock:
            same = self._same(messages)
            known, digests, names = self._last
            if same < len(known):
                known, digests, names = known[:same], digests[:same], names[:same]
            fresh = messages[same:]
            wires = Objects().read(fresh)
            known += fresh
            digests += map(_digest, wires)
            self._last = known, digests, _chain(names, [_name(wire) for wire in wires])
            return names.copy()

    def _same(self, messages: Sequence[Any]) -> int:
        """Return how many of *messages* are as they were in the last list."""
        known, digests, _ = self._last
        size = min(map(len, self._last))
        for held in self._last:
            del held[size:]  # what an interrupted call has left
        known += messages[size:]  # to cut out the beginning would count a reference to each
        is_same = known == messages
        del known[size:]
        if not is_same:
            pairs = enumerate(zip(messages, known, strict=False))
            most = min(len(messages), size)
            size = next((n for n, (new, old) in pairs if new is not old and new != old), most)
        self._turn += 1
        start = self._turn * _CHECKED % max(1, size)
        spots: set[int] = {*range(min(size, _ENDS)), *range(max(0, size - _ENDS), size)}
        spots.update(range(start, min(size, start + _CHECKED)))
        for place in sorted(spots):
            (wire,) = Objects().read([messages[place]])
            if _digest(wire) != digests[place]:
                return place
        return size


def _chain(names: list[bytes], digests: Sequence[bytes]) -> list[bytes]:
    """Return *names* with those of beginnings that end with each of the *digests*."""
    last = names[-1] if names else b""
    for one in digests:
        last = blake2b(last + one, digest_size=_SIZE).digest()
        names.append(last)
    return names


def _name(wire: Any) -> bytes:
    """Name one message by its content."""
    return blake2b(_digest(_content_of(wire)).encode(), digest_size=_SIZE).digest()


def _digest(value: Any) -> str:
    try:
        return digest(value)
    except (ValueError, RecursionError):  # it contains itself: the session will say so
        return ""


def _content_of(wire: Any) -> object:
    if not isinstance(wire, Mapping):
        return repr(type(wire))  # the session will say what is wrong
    _, read = read_message(wire) or (None, None)
    if read is None or not read.is_turn:
        return wire
    parts = [(part.text, part.call_id) for part in read.parts]
    calls = [(call.id, call.name, call.text) for call in read.calls]
    return [read.role, parts, calls, read.thinking, read.opaque, read.images]


def read_message(wire: Any, format_name: str = "auto") -> tuple[Format, Message] | None:
    """Read one message; `None` if that fails: the session will say what is wrong."""
    if not isinstance(wire, Mapping):
        return None
    format_ = recognize([wire]) if format_name == "auto" else find_format(format_name)
    try:
        return format_, format_.read(wire, "messages")
    except MessageError:
        return None
