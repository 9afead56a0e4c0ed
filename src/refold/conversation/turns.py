"""What a window manager knows of the conversations whose lists it is given, from call to call.

A list is either the conversation as it was said, or what was sent of it with what came since. Both
kinds are found by how they begin, and go on the same conversation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from refold.conversation.cursor import Item
from refold.conversation.finder import Beginnings, Finder, name_beginnings
from refold.conversation.report import FitResult
from refold.conversation.sending import Sending
from refold.llm.ask import Tally
from refold.messages.blocks import pair_warnings
from refold.messages.cache_marks import has_marks, with_marks, without_marks
from refold.messages.formats.objects import Objects
from refold.messages.wire import clone
from refold.tools.shapes import apply_short_form, drop_short_form

REUSED: Final = "reuse"
"""The step that says that an earlier fold was used again."""
_MOST: Final = 24
"""How many kinds of lists are remembered: conversations as they were said and as they were sent."""


@dataclass(slots=True, eq=False)
class Conversation:
    """One conversation; for whoever holds its lock."""

    sending: Sending
    objects: Objects = field(default_factory=Objects)
    lock: threading.Lock = field(default_factory=threading.Lock)
    prepared: Sending | None = None
    """The same conversation, folded early; it may have fewer messages."""
    folded_at: tuple[int, ...] = ()
    """At which turns it was folded."""
    as_sent: Line | None = None
    """The list that was sent since the last fold."""
    named: tuple[Sequence[Item], list[bytes]] = ((), [])
    """Items of a view, and the names of its beginnings."""
    about: tuple[int, tuple[str, ...], tuple[str, ...], tuple[str, ...]] = (-1, (), (), ())
    """After how many folds: the ids that were dropped, those in summaries, and warnings."""

    def __len__(self) -> int:
        return len(self.sending.cursor.given)

    @property
    def turn(self) -> int:
        """How often the model has spoken."""
        return sum(message.role == "assistant" for message in self.sending.cursor.given)

    def extend(self, messages: Iterable[Any]) -> None:
        """Add messages, in the short form of a `CompressionManager` if they have one."""
        cursor = self.sending.cursor
        for message in messages:
            wire = self.objects.read_one(message, len(cursor.given))
            original = drop_short_form(wire) if isinstance(wire, dict) else wire
            if original is not wire:
                cursor.append_short(original, apply_short_form(wire))
            else:
                cursor.append(wire)

    def adopt_prepared(self, limit: int) -> None:
        """Go on with what was folded early, if the view is above the *limit*."""
        cursor, prepared = self.sending.cursor, self.prepared
        if prepared is None or self.sending.arrive().tokens <= limit:
            return
        for message in cursor.given[len(prepared.cursor.given) :]:
            prepared.cursor.append(message.wire, message.stands_for)
        self.sending, self.prepared = prepared, None

    def name_view(self) -> list[bytes]:
        """Return the names of the beginnings of what was sent last."""
        now, (items, names) = self.sending.sent, self.named
        if items is not now.items or len(names) > now.count:
            names = []
        fresh = [item.wire for item in now.items[len(names) : now.count]]
        self.named = now.items, name_beginnings(fresh, names)
        return self.named[1]

    def branch(self, length: int) -> Conversation:
        """Return another conversation that begins with the first *length* messages of this one."""
        sending = self.sending.fork()
        sending.cut(length)
        return Conversation(sending, self.objects.copy(), folded_at=self.folded_at)


@dataclass(slots=True, eq=False)
class Line:
    """One kind of list of a conversation."""

    conversation: Conversation
    shown: int = 0
    """So many messages at its beginning are what was sent."""
    start: int = 0
    """They stand for so many of the conversation; the others are one for one."""
    last: tuple[int, int] = (0, 0)
    """How long the list was the last time, and how many tokens it had."""

    def given(self, place: int) -> int:
        """Return which message of the conversation is at a *place* of the list."""
        return self.start + place - self.shown


@dataclass(slots=True, eq=False)
class Turn:
    """One call: a list, and the conversation that it is."""

    messages: Sequence[Any]
    names: list[bytes]
    line: Line
    known: int
    """How many messages the conversation had before."""
    tokens: int
    """Tokens of the list."""
    folds: int
    """How often the conversation was folded before."""
    is_over: bool = False

    @property
    def conversation(self) -> Conversation:
        """The conversation, which this call alone may use."""
        return self.line.conversation

    @property
    def tally(self) -> Tally:
        """What models were asked."""
        return self.conversation.sending.cursor.tally


class Turns:
    """The conversations of one window manager; safe to share between threads."""

    def __init__(self, begin: Callable[[], Sending]) -> None:
        self._begin = begin
        self._beginnings = Beginnings()
        self._finder = Finder[Line](_MOST)

    def forget(self) -> None:
        """Forget all conversations."""
        self._finder.clear()

    def begin(self, messages: Sequence[Any]) -> Turn:
        """Find the conversation of a list, add what is new, and hold it until the turn ends."""
        names = self._beginnings.of(messages)
        length, line = self._finder.find(names)
        if line is None or not _goes_on(line, length) or not line.conversation.lock.acquire(False):
            length, line = 0, Line(Conversation(self._begin()))
            line.conversation.lock.acquire()
        held = line.conversation
        try:
            known, same = line.given(length), line.last[0] == length
            if known < len(held):
                line, same = Line(held.branch(known), line.shown, line.start, line.last), False
                line.conversation.lock.acquire()
                held.lock.release()
                held = line.conversation
            same = not held.sending.recount() and same
            cursor, folds = held.sending.cursor, held.sending.cursor.now.folds
            before = cursor.whole
            held.extend(messages[length:])
            tokens = cursor.whole
            if line.shown:
                told = line.last[1] if same else cursor.count(messages[:length])
                tokens += told - before
        except BaseException:
            held.sending.cut(min(len(held), line.given(length)))
            held.lock.release()
            raise
        return Turn(messages, names, line, known, tokens, folds)

    def undo(self, turn: Turn) -> None:
        """End a turn that has failed, if it has not ended yet."""
        if turn.is_over:
            return
        turn.is_over = True
        try:
            turn.conversation.sending.cut(turn.known)
        finally:
            turn.conversation.lock.release()

    def end(self, turn: Turn, *, is_sent: bool = True) -> None:
        """End a turn; the list may go on, and so may what was sent."""
        try:
            conversation, line = turn.conversation, turn.line
            names = conversation.name_view() if is_sent else turn.names
            is_other = names != turn.names
            if line is conversation.as_sent and is_other:
                line = replace(line)
            line.last = len(turn.messages), turn.tokens
            self._finder.keep(line, turn.names)
            if is_other:
                now, cursor = conversation.sending.sent, conversation.sending.cursor
                fed = conversation.as_sent
                if fed is None or now.folds != turn.folds:
                    fed = Line(conversation, now.count, len(cursor.given))
                fed.last = now.count, now.tokens
                conversation.as_sent = fed
                self._finder.keep(fed, names)
        finally:
            turn.is_over = True
            turn.conversation.lock.release()


def _goes_on(line: Line, length: int) -> bool:
    """Tell whether a list that leaves a *line* after *length* messages is best read from there."""
    return length >= line.shown and 2 * line.given(length) >= len(line.conversation)


def result_of(turn: Turn, available: int) -> FitResult[Any]:
    """Return what to send at a turn, and what was done for it."""
    conversation, line, sending = turn.conversation, turn.line, turn.conversation.sending
    cursor, now = sending.cursor, sending.sent
    items, given = now.shown(), cursor.given
    messages: list[Any] = []
    for item in items:
        place = item.first - line.start + line.shown
        told = turn.messages[place] if item.end - item.first == 1 and place >= line.shown else None
        wire = clone(item.wire)
        # Its marks of caches may have moved.
        if type(told) is dict and drop_short_form(told) is told:
            if item.is_given:
                wire = clone(told)
            elif has_marks(wire) or has_marks(told):
                wire = with_marks(without_marks([wire])[0], told)
            messages.append(wire)
        else:
            messages += conversation.objects.write([wire])
    if conversation.about[0] != now.folds or not now.folds:
        gone, end = list[str](), 0
        for item in items:
            gone += [message.id for message in given[end : item.first]]
            end = item.end
        gone += [message.id for message in given[end:]]
        shared = [m.id for i in items if i.end - i.first > 1 for m in given[i.first : i.end]]
        pairs = pair_warnings(given)
        conversation.about = now.folds, tuple(gone), tuple(shared), pairs
    _, dropped, summarized, warnings = conversation.about
    fits, report = now.tokens <= available, now.budget
    if now.ends_in_summary and now.covered == now.seen:
        warnings = (*warnings, "it ends with a summary: there was no room for the last results")
    if not fits and report is not None:
        warnings = (*warnings, report.explain())
    steps: tuple[str, ...] = () if report is None or not now.folds else report.rungs
    if now.folds and now.folds == turn.folds:
        steps = (REUSED, *steps)
    pairs_of = zip(turn.messages, messages, strict=False)
    return FitResult(
        messages=messages,
        fits=fits,
        tokens_before=turn.tokens,
        tokens_after=now.tokens,
        tokens_available=available,
        dropped_ids=dropped,
        summarized_ids=summarized,
        compressed_ids=tuple(
            given[item.first].id
            for item in items
            if item.end - item.first == 1 and (not item.is_given or item.behind is not None)
        ),
        steps=steps,
        first_changed=next(
            (n for n, (old, new) in enumerate(pairs_of) if old is not new and old != new),
            min(len(turn.messages), len(messages)),
        ),
        thinking="stripped" if now.is_stripped else "kept",
        warnings=warnings,
        obstacles=() if fits or report is None else report.obstacles,
        verbatim=cursor.verbatim,
        model=sending.report.model,
    )
