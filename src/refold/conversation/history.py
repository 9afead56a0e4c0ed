"""Recognize the beginning of a list that is passed whole every time, and read only what is new.

A client that sends its whole history gets the same beginning back every time, until the end has
grown too long, so the provider's cached prefix stays valid. What an earlier pass has read is not
read again, and a pass that was prepared in the background waits here until it is needed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from refold.conversation.report import FitResult
from refold.conversation.state import State, Wires
from refold.conversation.view import Item, View, given_item, number_through
from refold.engine import Engine
from refold.errors import MessageError, TooManyMessagesError
from refold.messages.formats import check_list, load, recognize
from refold.messages.formats.objects import Objects
from refold.messages.manifest import Source
from refold.messages.message import Message
from refold.messages.restore import restore_fold
from refold.messages.wire import Wire
from refold.tools.shapes import apply_short_form

_MAX_PASSES: Final = 8
"""How many conversations are remembered, for managers that serve several. More keep more copies
alive; of one that is forgotten the next view is made from nothing."""
_CHECKED_AT_ONCE: Final = 256
"""How many of the messages that no view shows any more are compared at each call: about as long as
it takes to fit a view, so that a call costs the same however long a conversation is. One that is
changed in place is noticed at once in a shorter conversation, and within 80 calls in one of 20,000
messages; until then it is what it was when it was folded."""
MOST_ANEW: Final = 64
"""Up to so many messages a conversation is folded from its originals again at every pass; a longer
one from what was last sent and what has come since, so that a pass does not cost more and more."""


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
    """The state as it is now, or nothing while a call works on it: popping it takes ownership."""

    @property
    def shown(self) -> list[Any]:
        """The messages that came out."""
        return [item.wire for item in self.state.view.items]

    def go_on(self, messages: Sequence[Any]) -> State:
        """Return the state that has read most of *messages*; the caller owns it."""
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
        self._lock = threading.RLock()  # reentrant: an interrupt may come while it is released

    def remember(self, done: Pass, earlier: Pass | None = None) -> None:
        """Keep *done* in place of older passes over the same conversation, such as *earlier*."""
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
    """The last list of plain data that a manager was given; safe to share between threads.

    Messages that were there at the last call are not searched for objects again.
    """

    def __init__(self) -> None:
        self._plain: list[Any] = []
        self._lock = threading.RLock()  # reentrant: an interrupt may come while it is released

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


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A list as it was given, and what is known of it before a pass."""

    wires: Wires
    """The list itself."""
    state: State
    """What there is to fold: the view of an earlier pass and what came since, or the whole list."""
    is_anew: bool
    """Whether `state` has the whole list as it was given."""
    short: Mapping[str, Any]
    """What undoes the short forms of what was read now."""
    earlier: Pass | None
    """The last pass over the beginning of the list."""
    tail: Sequence[Item]
    """What came after the earlier pass; everything without one."""
    total: int
    """Tokens of the list."""
    turn: int
    """How often the model has spoken so far."""

    def reused(self) -> View | None:
        """Return what the earlier pass has left with what came since; `None` without one."""
        if self.earlier is None or not self.is_anew:
            return None if self.earlier is None else self.state.view
        before = self.earlier.state.view
        items = number_through((*before.items, *self.tail), self.state.text_cache.tokens)
        return replace(before, items=items)

    def sent(self) -> Iterable[Any]:
        """Yield the list as it would be sent without a pass."""
        if self.is_anew:
            return (item.source.wire for item in self.state.view.items)
        return map(apply_short_form, self.wires)

    def give_back(self, passes: Passes) -> None:
        """Leave what was read to the next call, since nothing was folded.

        What stands for something else has to be looked up each time.
        """
        read = self.state.view.items if self.earlier is None else self.tail
        if self.short or any(item.source.stands_for is not None for item in read):
            return
        if self.earlier is None:
            passes.put_state(self.wires, self.state)
        elif not self.is_anew:
            self.state.copy_given(self.wires)
            self.earlier.grown[:] = [self.state]


def find_history(messages: Wires, passes: Passes, engine: Engine, available: int) -> History:
    """Read *messages*, going on from an earlier pass; all of them if they fit by now."""
    earlier = passes.find(messages)
    if earlier is not None:
        history = read_history(messages, earlier, engine)
        if history.is_anew or history.total > available:
            return history
    return read_history(messages, None, engine, passes.take_state(messages))


def read_history(
    messages: Wires, earlier: Pass | None, engine: Engine, whole: State | None = None
) -> History:
    """Read *messages*, which begin with those of the *earlier* pass, if there is one.

    Without one, *whole* may be how some of them stand in which nothing is folded.
    """
    is_anew = earlier is None or len(messages) <= MOST_ANEW
    if earlier is not None and not is_anew:
        state = earlier.go_on(messages)
    elif whole is not None and whole.reads_alike(messages[whole.view.length :]):
        state = whole
    else:
        name = engine.options.format
        name = recognize(check_list(messages)).name if name == "auto" else name
        state = State(engine, format_name=name)
    state.view = state.counted()
    short: dict[str, Any] = {}
    if earlier is not None:
        short = state.extend(messages[state.view.length : len(earlier)])
    short |= state.extend(messages[state.view.length :])
    start = 0 if earlier is None else len(earlier)
    tail = state.view.items[start:] if is_anew else state.view.tail
    spoken = sum(item.source.role == "assistant" for item in tail)
    return History(
        wires=messages,
        state=state,
        is_anew=is_anew,
        short=short,
        earlier=earlier,
        tail=tail,
        total=state.view.unfolded_tokens,
        turn=spoken if earlier is None else earlier.turn + spoken,
    )


def unroll_items(state: State, own: Source) -> list[Item] | None:
    """Return the items of *state* with our stand-ins replaced; *own* is as for `unroll`."""
    engine = state.engine
    found = unroll(state.view.sources, engine.source or own, own, MOST_ANEW)
    if found is None:
        return None
    items: list[Item] = []
    messages = load([wire for wire, _ in found], format_name=engine.options.format)
    for message, (_, place) in zip(messages, found, strict=True):
        is_next = bool(items) and items[-1].first == place  # the cost of a place is that of one
        cost = 0 if is_next else state.view.items[place].unfolded
        kept = state.view.sources[place]
        if message.digest == kept.digest and kept.stands_for is not None:
            message = message.changed(stands_for=kept.stands_for)  # noqa: PLW2901
        items.append(given_item(message, dict(message.wire), place, cost))
    return items


def unroll(
    messages: Sequence[Message], source: Source, own: Source, most: int
) -> list[tuple[Wire, int]] | None:
    """Return the conversation with earlier stand-ins of ours replaced by what they stand for.

    A summary is made from the originals as long as they can be found and are not more than *most*.
    What stands for one message is replaced only if *own* knows it: what others made short, such as
    a `CompressionManager`, stays so. Each message comes with the index of the one that it, or what
    it stands for, was in *messages*. `None` if there is nothing to replace.
    """
    unrolled: list[tuple[Wire, int]] = []
    is_other = False
    for message in messages:
        originals: Sequence[Wire] = [message.wire]
        if message.stands_for is not None:
            originals = _originals(message.stands_for.fold, source, own, most) or originals
            is_other = is_other or originals[0] is not message.wire
        unrolled.extend((original, message.index) for original in originals)
    if not is_other:
        return None
    try:
        load([wire for wire, _ in unrolled])
    except MessageError:  # originals that stand beside their own summary: ids would clash
        return None
    return unrolled


def _originals(fold: str, source: Source, own: Source, most: int) -> Sequence[Wire]:
    """Return the messages behind a fold; none if they are too many or unknown."""
    try:
        found, missing = restore_fold(fold, source, most)
        if missing or len(found) <= 1:
            found, missing = restore_fold(fold, own, most)
    except TooManyMessagesError:
        return []
    return [] if missing else [one.wire for one in found]
