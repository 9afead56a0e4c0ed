"""What a window manager knows of the conversations whose lists it is given, from call to call.

A list is either the conversation as it was said, or what was sent of it with what came since. Both
kinds are found by how they begin, and go on the same conversation.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from refold.conversation.cursor import Item
from refold.conversation.finder import Beginnings, Finder, name_beginnings
from refold.conversation.report import FitResult
from refold.conversation.sending import Sending
from refold.messages.blocks import pair_warnings
from refold.messages.cache_marks import has_marks, with_marks, without_marks
from refold.messages.formats import load
from refold.messages.formats.objects import Objects
from refold.messages.token_count import CountedTexts
from refold.messages.wire import clone
from refold.tools.shapes import apply_short_form, drop_short_form

REUSED: Final = "reuse"
"""The step that says that an earlier fold was used again."""
_MOST: Final = 24
"""How many kinds of lists are remembered: conversations as they were said and as they were sent."""
Ids = tuple[str, ...]


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
    about: tuple[int, Ids, Ids, tuple[str, ...]] = (-1, (), (), ())
    """After how many folds: the ids that were dropped, those in summaries, and warnings."""

    def __len__(self) -> int:
        return len(self.sending.cursor.messages)

    @property
    def turn(self) -> int:
        """How often the model has spoken."""
        return sum(message.role == "assistant" for message in self.sending.cursor.messages)

    def extend(self, messages: Iterable[Any]) -> None:
        """Add messages, in the short form of a `CompressionManager` if they have one."""
        cursor = self.sending.cursor
        for message in messages:
            wire = self.objects.read_one(message, len(cursor.messages))
            original = drop_short_form(wire) if isinstance(wire, dict) else wire
            if original is not wire:
                cursor.append_short(original, apply_short_form(wire))
            else:
                cursor.append(wire)

    def adopt_prepared(self, limit: int) -> None:
        """Go on with what was folded early, if the view is above the *limit*."""
        prepared = self.prepared
        if prepared is not None and self.sending.arrive().tokens > limit:
            for message in self.sending.cursor.messages[len(prepared.cursor.messages) :]:
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

    def what_went(self) -> tuple[Ids, Ids, tuple[str, ...]]:
        """Return the ids that the last fold dropped, those in its summaries, and warnings."""
        now, originals = self.sending.sent, self.sending.cursor.messages
        if not now.folds:
            return (), (), pair_warnings(originals)
        if self.about[0] != now.folds:
            gone, end = list[str](), 0
            for item in now.current():
                gone += [message.id for message in originals[end : item.first]]
                end = item.end
            gone += [message.id for message in originals[end:]]
            shared = [
                m.id for i in now.current() if len(i.span) > 1 for m in originals[i.first : i.end]
            ]
            self.about = now.folds, tuple(gone), tuple(shared), pair_warnings(originals)
        return self.about[1:]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One kind of list of a conversation."""

    conversation: Conversation
    sent: int = 0
    """So many messages at its beginning are what was sent."""
    start: int = 0
    """They stand for so many of the conversation; the others are one for one."""

    def index_of(self, place: int) -> int:
        """Return which message of the conversation is at a *place* of the list."""
        return self.start + place - self.sent


@dataclass(slots=True, eq=False)
class Turn:
    """One call: a list, and the conversation that it is, which this call alone may use."""

    messages: Sequence[Any]
    line: Line
    tokens: int
    """Tokens of the list."""
    folds: int
    """How often the conversation was folded before."""
    is_sent: bool = True
    """Whether what is shown of it goes to the model."""

    @property
    def conversation(self) -> Conversation:
        """The conversation."""
        return self.line.conversation


class Turns:
    """The conversations of one window manager; safe to share between threads."""

    def __init__(self, begin: Callable[[], Sending]) -> None:
        self._begin = begin
        self._beginnings = Beginnings()
        self._finder = Finder[Line](_MOST)

    @contextmanager
    def turn(self, messages: Sequence[Any]) -> Iterator[Turn]:
        """Find the conversation of a list, add what is new, and hold it until the turn ends.

        A turn that fails leaves the conversation as it was.
        """
        names = self._beginnings.of(messages)
        length, line = self._find(names)
        held, known = line.conversation, line.index_of(length)
        try:
            held.sending.recount()
            held.extend(messages[length:])
            cursor = held.sending.cursor
            tokens = cursor.whole
            if line.sent:
                tokens = count_messages(messages, cursor.cache.tokens, cursor.options.format)
            turn = Turn(messages, line, tokens, cursor.now.folds)
            yield turn
        except BaseException:
            held.sending.cut(known)
            raise
        else:
            self._keep(turn, names)
        finally:
            held.lock.release()

    def _find(self, names: list[bytes]) -> tuple[int, Line]:
        """Return what a list goes on, locked, and after how many of its messages."""
        length, line = self._finder.find(names)
        # One that leaves a conversation early is best read anew; so is one that is in use.
        if (
            line is None
            or length < line.sent
            or 2 * line.index_of(length) < len(line.conversation)
            or not line.conversation.lock.acquire(blocking=False)
        ):
            length, line = 0, Line(Conversation(self._begin()))
            line.conversation.lock.acquire()
        elif line.index_of(length) < len(line.conversation):
            held = line.conversation
            try:
                line = replace(line, conversation=held.branch(line.index_of(length)))
                line.conversation.lock.acquire()
            finally:
                held.lock.release()
        return length, line

    def _keep(self, turn: Turn, names: list[bytes]) -> None:
        """Let the list of a turn go on, and so may what was sent."""
        line, held = turn.line, turn.conversation
        view_names = held.name_view() if turn.is_sent else names
        if view_names == names:
            self._finder.keep(line, names)
            return
        self._finder.keep(replace(line) if line is held.as_sent else line, names)
        now = held.sending.sent
        if held.as_sent is None or now.folds != turn.folds:
            held.as_sent = Line(held, now.count, len(held))
        self._finder.keep(held.as_sent, view_names)


def count_messages(messages: Sequence[Any], tokens: CountedTexts, format_name: str) -> int:
    """Return the tokens of a list, in the short forms of a `CompressionManager` if it has any."""
    wires = [apply_short_form(wire) for wire in Objects().read(messages)]
    return sum(map(tokens.message, load(wires, format_name=format_name)))


def result_of(turn: Turn, available: int) -> FitResult[Any]:
    """Return what to send at a turn, and what was done for it."""
    conversation, line, sending = turn.conversation, turn.line, turn.conversation.sending
    cursor, now = sending.cursor, sending.sent
    items, originals = now.current(), cursor.messages
    messages: list[Any] = []
    for item in items:
        place = item.first - line.start + line.sent
        came = turn.messages[place] if len(item.span) == 1 and place >= line.sent else None
        if type(came) is not dict or drop_short_form(came) is not came:
            messages += conversation.objects.write([clone(item.wire)])
            continue
        wire = clone(came) if item.is_verbatim else clone(item.wire)
        if not item.is_verbatim and (has_marks(wire) or has_marks(came)):
            wire = with_marks(without_marks([wire])[0], came)  # these may have moved
        messages.append(wire)
    dropped, summarized, warnings = conversation.what_went()
    fits, report = now.tokens <= available, now.budget
    if now.ends_in_summary and now.covered == now.seen:
        warnings = (*warnings, "it ends with a summary: there was no room for the last results")
    if not fits and report is not None:
        warnings = (*warnings, report.explain())
    steps: tuple[str, ...] = () if report is None or not now.folds else report.rungs
    if now.folds and now.folds == turn.folds:
        steps = (REUSED, *steps)
    pairs = enumerate(zip(turn.messages, messages, strict=False))
    same = min(len(turn.messages), len(messages))
    return FitResult(
        messages=messages,
        fits=fits,
        tokens_before=turn.tokens,
        tokens_after=now.tokens,
        tokens_available=available,
        dropped_ids=dropped,
        summarized_ids=summarized,
        compressed_ids=tuple(
            originals[item.first].id
            for item in items
            if len(item.span) == 1 and (not item.is_verbatim or item.behind is not None)
        ),
        steps=steps,
        first_changed=next((n for n, (a, b) in pairs if a is not b and a != b), same),
        thinking="stripped" if now.is_stripped else "kept",
        warnings=warnings,
        obstacles=() if fits or report is None else report.obstacles,
        verbatim=cursor.verbatim,
        model=sending.report.model,
    )
