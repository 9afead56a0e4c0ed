"""What earlier passes made of conversations: reused as long as the beginning is the same.

Who sends the whole history every time gets the same beginning every time, until the end has grown
too long: a provider's cached prefix stays valid. A pass that was prepared in the background waits
here until it is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from refold.messages.formats import Loader
from refold.messages.formats.objects import Objects
from refold.messages.message import Message
from refold.messages.wire import clone
from refold.plan.text_cache import TextCache
from refold.window.reading import Chains, Wires
from refold.window.result import FitResult

_MAX_PASSES: Final = 8
"""Conversations that are remembered at once, for managers that serve several. More keep more copies
alive; of one that is forgotten the next view is made from nothing."""
_CHECKED_AT_ONCE: Final = 256
"""How many of the messages that no view shows any more are compared at each call: about as long as
it takes to fit a view, so that a call costs the same however long a conversation is. One that is
changed in place is noticed at once in a shorter conversation, and within 80 calls in one of 20,000
messages; until then it is what it was when it was folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The messages that were read: the caller's own objects, and copies of them."""

    objects: list[Any]
    copies: list[Any]

    @classmethod
    def of(cls, messages: Sequence[Any], before: Given | None = None) -> Given:
        """Copy *messages*; what is known *before* is not copied again."""
        if before is None:
            return cls(objects=list(messages), copies=[clone(dict(wire)) for wire in messages])
        fresh = messages[len(before) :]
        copies = [*before.copies, *(clone(dict(wire)) for wire in fresh)]
        return cls(objects=list(messages), copies=copies)

    def __len__(self) -> int:
        return len(self.copies)

    def begin(self, messages: Sequence[Any], shown: Sequence[int], turn: int) -> bool:
        """Tell whether *messages* begin with these.

        An object that was there before is the same message, unless somebody has changed it in
        place. So those that a view shows are compared with their copies at every *turn*, and the
        others by turns. Objects that were made anew are all compared: that is many times as fast
        as to read them, or to name them by their content.
        """
        size = len(self.copies)
        told = messages if type(messages) is list else list(messages)
        if not may_begin_with(told, self.objects):
            return told[:size] == self.copies
        start = turn * _CHECKED_AT_ONCE % size
        part = slice(start, min(size, start + _CHECKED_AT_ONCE))
        return (
            begins_with(told, self.objects)
            and told[part] == self.copies[part]
            and all(told[index] == self.copies[index] for index in shown)
        )


@dataclass(slots=True, kw_only=True)
class Tail:
    """What has come since a pass, as far as it was read: the next call reads only the rest."""

    text_cache: TextCache
    """What is known of the texts in view."""
    factor: float
    """What counts were multiplied with at the time."""
    loader: Loader
    chains: Chains
    """Where the stand-ins of the list end, up to here."""
    copies: list[Any] = field(default_factory=list[Any])
    """What was given, to see whether it is still the same."""
    messages: list[Message] = field(default_factory=list[Message])
    numbered: list[Message] = field(default_factory=list[Message])
    """The same by their places behind what the pass shows."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it stands for anything else: that has to be looked up each time."""
        return not any(message.link or message.provenance for message in self.messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass:
    """One list that was read, and what became of it."""

    given: Given
    """The messages that were read."""
    ids: frozenset[str]
    """Those that they have of their own."""
    shown: tuple[Message, ...]
    """The messages that came out, as a later pass takes them up."""
    firsts: tuple[int, ...]
    """Where in the list that was read stands what each of these stands for, or begins to."""
    total: int
    """Tokens of the messages that were read."""
    turn: int
    """How often the model had spoken."""
    chains: Chains
    """Where the stand-ins of the list that was read end."""
    result: FitResult
    """Ours alone: who hands it out copies the messages."""
    is_stuck: bool = False
    """Whether nothing worthwhile could be saved, so that it is no use to try again soon."""
    factor: float = 1.0
    """What counts were multiplied with at the time: an estimate may have learned since."""
    made_at: tuple[int, ...] = ()
    """The turns at which this conversation was changed, this pass included."""
    tails: list[Tail] = field(default_factory=list[Tail], repr=False, compare=False)
    """What was read behind it, at most one: whoever takes it out has it alone."""

    def take_tail(self, factor: float) -> Tail | None:
        """Take out what was read behind it; `None` if that is nothing, or is counted otherwise."""
        try:
            tail = self.tails.pop()
        except IndexError:  # at work elsewhere
            return None
        return tail if tail.factor == factor else None


class Passes:
    """The last passes of one manager; safe to share between threads."""

    def __init__(self) -> None:
        self._passes: list[Pass] = []
        self._turn = 0
        self._lock = threading.Lock()

    def remember(self, done: Pass, earlier: Pass | None = None) -> None:
        """Keep *done*, in the place of those over the same conversation; *earlier* is one."""
        with self._lock:
            copies = done.given.copies
            others = [
                p
                for p in self._passes
                if p is not earlier and copies[: len(p.given)] != p.given.copies
            ]
            self._passes = [*others, done][-_MAX_PASSES:]

    def forget(self) -> None:
        """Forget everything: the window or the counting has changed."""
        with self._lock:
            self._passes = []

    def find(self, messages: Sequence[Any]) -> Pass | None:
        """Return the latest pass over the beginning of this conversation, if there is one."""
        with self._lock:
            self._turn += 1
            for done in reversed(self._passes):
                if done.given.begin(messages, done.firsts, self._turn):
                    return done
        return None

    def made(self, messages: Sequence[Any]) -> Pass | None:
        """Return the pass whose outcome this very conversation is, if there is one."""
        for done in reversed(self._passes):
            made = done.result.messages
            if len(made) == len(messages) and made == list(messages):
                return done
        return None

    def original(self, key: str) -> Any:
        """Return an original or a link that one of the passes has kept."""
        for done in reversed(self._passes):
            if key in done.result.verbatim:
                return done.result.verbatim[key]
        return None


def may_begin_with(messages: list[Any], known: list[Any]) -> bool:
    """Tell, from both ends, whether *messages* may begin with the very objects in *known*."""
    if not known or len(messages) < len(known):
        return False
    return messages[0] is known[0] and messages[len(known) - 1] is known[-1]


def begins_with(messages: list[Any], known: list[Any]) -> bool:
    """Tell whether *messages* begin with *known*, which only one thread may use at a time.

    Lists of one length are compared pointer by pointer, thousands in the time of one message. To
    cut out the beginning would count a reference to each, which takes ten times as long.
    """
    size = len(known)
    known += messages[size:]
    try:
        return known == messages
    finally:
        del known[size:]


class Known:
    """The last history of a manager, if there was no object in it; safe to share between threads.

    What was there at the last call is not looked at again.
    """

    def __init__(self) -> None:
        self._plain: list[Any] = []
        self._lock = threading.Lock()

    def read(self, messages: Wires) -> tuple[Wires, Objects]:
        """Return *messages* as data, with the objects among them."""
        if type(messages) is not list:
            objects = Objects()
            return objects.read(messages), objects
        with self._lock:
            return self._read(messages)

    def _read(self, messages: list[Any]) -> tuple[Wires, Objects]:
        known, objects = self._plain, Objects()
        if may_begin_with(messages, known) and begins_with(messages, known):
            fresh = messages[len(known) :]
            if objects.read(fresh) is fresh:
                known += fresh
                return messages, objects
            objects = Objects()
        wires = objects.read(messages)
        self._plain = list(messages) if wires is messages else []
        return wires, objects
