"""Which conversation a list of messages is, found by how the list begins.

A client sends its whole history before every call of a model. The longest beginning of it that was
seen before says which conversation continues, or where another one branches off from it:

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
    finder.keep(session, dict.fromkeys(names, session), owner)  # once all went well

What must be equal beside the messages, such as a tenant, a model or a format, is the *owner*. A
finder is safe to share between threads; what it keeps is as safe as it is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, Generic, TypeVar

from refold.errors import MessageError
from refold.messages.formats import find_format, recognize
from refold.messages.formats.base import Format
from refold.messages.formats.objects import Objects
from refold.messages.message import Message
from refold.messages.wire import digest

T = TypeVar("T")

_STREAMED: Final = 32
"""So many messages at the end of a list are read again if there are objects in them."""
_LEVELS: Final = 8
"""Of lists and dicts in a message whose changes are seen; content has fewer."""
_SIZE: Final = 16
"""Bytes of a name."""


class Finder(Generic[T]):
    """The last conversations of this process by how they begin; safe to share between threads."""

    def __init__(self, most: int) -> None:
        """Keep at most so many; the least recently used is forgotten first."""
        self._most = most
        self._by_name: dict[tuple[Hashable, bytes], tuple[object, T]] = {}
        """What was last kept for a beginning, and the conversation that it is of."""
        self._kept: OrderedDict[Any, dict[tuple[Hashable, bytes], None]] = OrderedDict()
        """The beginnings of each conversation."""
        self._lock = threading.RLock()  # reentrant: an interrupt may come while it is released

    def __len__(self) -> int:
        """Return how many conversations are kept."""
        return len(self._kept)

    def find(self, names: Sequence[bytes], owner: Hashable = "") -> tuple[int, T | None]:
        """Return how long the longest beginning is that was seen before, and what is kept for it.

        *names* are those of all beginnings of a list, see `name_beginnings`.
        """
        with self._lock:
            for length in range(len(names), 0, -1):
                of, value = self._by_name.get((owner, names[length - 1]), (None, None))
                if of in self._kept:
                    self._kept.move_to_end(of)
                    return length, value
        return 0, None

    def keep(self, of: Hashable, beginnings: Mapping[bytes, T], owner: Hashable = "") -> None:
        """Keep something for each of some *beginnings* of one conversation, by their names."""
        with self._lock:
            keys = self._kept.setdefault(of, {})
            for name, value in beginnings.items():
                keys[owner, name] = None
                self._by_name[owner, name] = of, value
            self._kept.move_to_end(of)
            while len(self._kept) > self._most:
                self.forget(next(iter(self._kept)))

    def forget(self, of: Hashable) -> None:
        """Do not find a conversation any more."""
        with self._lock:
            for key in self._kept.pop(of, ()):
                if self._by_name.get(key, (None,))[0] is of:
                    del self._by_name[key]

    def values(self) -> list[Any]:
        """Return the conversations that are kept, the most recently used first."""
        with self._lock:
            return [*reversed(self._kept)]


def name_beginnings(messages: Sequence[Any], before: Sequence[bytes] = ()) -> list[bytes]:
    """Return a name for each beginning of *messages*: equal beginnings, equal names.

    Only the content of a message counts: frameworks change other fields when they save and load it.
    With names that are known *before*, the messages are those that come after these.
    """
    names = [*before]
    last = names[-1] if names else b""
    for wire in Objects().read(messages):
        last = blake2b(last + _digest_of(wire).encode(), digest_size=_SIZE).digest()
        names.append(last)
    return names


class Beginnings:
    """Names the beginnings of lists; of a list that goes on from the last one only what is new.

    Safe to share between threads: what is known of the last list is exchanged in one step.
    """

    def __init__(self) -> None:
        self._last: tuple[list[Any], list[bytes]] = ([], [])
        """The messages of the last list as they were, and the names of its beginnings."""

    def of(self, messages: Sequence[Any]) -> list[bytes]:
        """Do what `name_beginnings` does."""
        known, names = self._last
        states = messages
        if not {*map(type, messages)} <= {dict}:
            states = [one if type(one) is dict else _state_of(one) for one in messages]
        same = _count_same(known, states)
        # Objects within a message have no snapshot; while a stream fills them, they are at the end.
        ends, objects = range(max(0, same - _STREAMED), same), Objects()
        holds = (n for n in ends if objects.read_one(messages[n], n) is not messages[n])
        same = next(holds, same)
        names = name_beginnings(messages[same:], names[:same])
        self._last = [*known[:same], *map(_snapshot, states[same:])], names
        return names.copy()


def _state_of(message: object) -> object:
    """Return what of a message can be compared with a snapshot: of an object, its fields too."""
    if isinstance(message, Mapping):
        return dict(message)
    return [message, getattr(message, "__dict__", None)]


def _count_same(known: Sequence[Any], states: Sequence[Any]) -> int:
    """Return how many messages are in the *states* that they were *known* to be in."""
    size = min(len(known), len(states))
    try:
        if known[:size] == states[:size]:
            return size
        pairs = enumerate(zip(known, states, strict=False))
        return next((n for n, (old, new) in pairs if old is not new and old != new), size)
    except Exception:  # noqa: BLE001 - values in messages may be anybody's
        return 0


def _snapshot(value: Any, levels: int = _LEVELS) -> Any:
    """Copy lists and dicts, but nothing in them: then a change in place is seen."""
    if type(value) is dict and levels:
        return {name: _snapshot(item, levels - 1) for name, item in value.items()}
    if type(value) is list and levels:
        return [_snapshot(item, levels - 1) for item in value]
    return value


def _digest_of(wire: Any) -> str:
    """Name what counts of one message: its content."""
    content: object = wire
    if not isinstance(wire, Mapping):
        content = repr(type(wire))  # the session will say what is wrong
    elif (read := read_message(wire)) is not None and (message := read[1]).is_turn:
        parts = [(part.text, part.call_id) for part in message.parts]
        calls = [(call.id, call.name, call.text) for call in message.calls]
        content = [message.role, parts, calls, message.thinking, message.opaque, message.images]
    try:
        return digest(content)
    except (ValueError, RecursionError):  # it contains itself: the session will say so
        return ""


def read_message(wire: Any, format_name: str = "auto") -> tuple[Format, Message] | None:
    """Read one message; `None` if that fails: the session will say what is wrong."""
    if not isinstance(wire, Mapping):
        return None
    format_ = recognize([wire]) if format_name == "auto" else find_format(format_name)
    try:
        return format_, format_.read(wire, "messages")
    except MessageError:
        return None
