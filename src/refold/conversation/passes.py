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

from refold.conversation.report import FitResult
from refold.conversation.state import State, Wires
from refold.messages.formats.objects import Objects

_MAX_PASSES: Final = 8
"""How many conversations are remembered, for managers that serve several. More keep more copies
alive; of one that is forgotten the next view is made from nothing."""
_CHECKED_AT_ONCE: Final = 256
"""How many of the messages that no view shows any more are compared at each call: about as long as
it takes to fit a view, so that a call costs the same however long a conversation is. One that is
changed in place is noticed at once in a shorter conversation, and within 80 calls in one of 20,000
messages; until then it is what it was when it was folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A list of messages that was read."""

    objects: list[Any]
    """Its messages: the caller's own."""
    state: State
    """Their state."""

    def __len__(self) -> int:
        """Return how many messages were read."""
        return len(self.objects)

    @property
    def copies(self) -> Sequence[Any]:
        """Copies of the messages as they were then."""
        return self.state.given.copies

    def covers(self, other: Seen) -> bool:
        """Tell whether it begins with what is in *other*."""
        return self.copies[: len(other)] == other.copies

    def begins(self, messages: Sequence[Any], turn: int) -> bool:
        """Tell whether *messages* begin with those that were read.

        An object that was there before is the same message, unless it was changed in
        place. So those that a view shows are compared with their copies at every *turn*, and the
        others by turns. Objects that were made anew are all compared: that is many times as fast
        as to read them, or to name them by their content.
        """
        size, copies = len(self), self.copies
        told = messages if type(messages) is list else list(messages)
        if not may_begin_with(told, self.objects):
            return told[:size] == copies
        start = turn * _CHECKED_AT_ONCE % size
        part = slice(start, min(size, start + _CHECKED_AT_ONCE))
        return (
            begins_with(told, self.objects)
            and told[part] == copies[part]
            and all(told[n] == copies[n] for n in (item.first for item in self.state.view.items))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Pass(Seen):
    """One list that was folded, and what became of it.

    Its state is never changed: a later pass works on a copy.
    """

    turn: int
    """The number of assistant messages in it."""
    result: FitResult
    """The result. Its messages belong to the caller; `state` has our own."""
    is_stuck: bool = False
    """Whether too little could be saved, so that trying again soon is pointless."""
    made_at: tuple[int, ...] = ()
    """The turns at which this conversation was changed, this pass included."""
    grown: list[State] = field(default_factory=list[State], repr=False, compare=False)
    """The current state, at most one: taking it out transfers ownership."""

    @property
    def shown(self) -> list[Any]:
        """The messages that came out."""
        return [item.wire for item in self.state.view.items]

    def go_on(self, messages: Sequence[Any]) -> State:
        """Return a state that ends as late in *messages* as is known; the caller owns it."""
        try:
            grown = self.grown.pop()
        except IndexError:  # at work elsewhere
            return self.state.fork()
        size, length = len(self), len(grown.given)
        if list(messages[size:length]) == grown.given.copies[size:]:
            return grown
        return self.state.fork(grown.text_cache)


class Passes:
    """The last passes of one manager; safe to share between threads."""

    def __init__(self) -> None:
        self._passes: list[Pass] = []
        self._whole: list[Seen] = []
        """Lists that needed no pass yet."""
        self._turn = 0
        self._lock = threading.RLock()  # reentrant, for whoever is interrupted where it is let go

    def remember(self, done: Pass, earlier: Pass | None = None) -> None:
        """Keep *done*, in the place of those over the same conversation; *earlier* is one."""
        with self._lock:
            others = [one for one in self._passes if one is not earlier and not done.covers(one)]
            self._passes = [*others, done][-_MAX_PASSES:]

    def forget(self) -> None:
        """Forget everything: the window or the counting has changed."""
        with self._lock:
            self._passes = []
            self._whole = []

    def put_state(self, messages: Sequence[Any], state: State) -> None:
        """Keep the state of a list that was read and needed no pass."""
        state.copy_given(messages)
        with self._lock:
            seen = Seen(objects=list(messages), state=state)
            others = [one for one in self._whole if not seen.covers(one)]
            self._whole = [*others, seen][-_MAX_PASSES:]

    def take_state(self, messages: Sequence[Any]) -> State | None:
        """Return the state of the beginning of this conversation if it needed no pass so far.

        Taking it transfers ownership.
        """
        with self._lock:
            for place in range(len(self._whole) - 1, -1, -1):
                if self._whole[place].begins(messages, self._turn):
                    return self._whole.pop(place).state
        return None

    def find(self, messages: Sequence[Any]) -> Pass | None:
        """Return the latest pass over the beginning of this conversation, if there is one."""
        with self._lock:
            self._turn += 1
            for done in reversed(self._passes):
                if done.begins(messages, self._turn):
                    return done
        return None

    def made(self, messages: Sequence[Any]) -> Pass | None:
        """Return the pass that produced exactly this list, if there is one."""
        for done in reversed(self._passes):
            if len(done.state.view.items) == len(messages) and done.shown == list(messages):
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
    try:
        known += messages[size:]
        return known == messages
    finally:
        del known[size:]


class Known:
    """The last history of a manager, if there was no object in it; safe to share between threads.

    What was there at the last call is not looked at again.
    """

    def __init__(self) -> None:
        self._plain: list[Any] = []
        self._lock = threading.RLock()  # reentrant, for whoever is interrupted where it is let go

    def read(self, messages: Sequence[Any]) -> tuple[Wires, Objects]:
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
