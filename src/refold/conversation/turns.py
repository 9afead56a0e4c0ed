"""What a window manager knows of the conversations whose lists it is given, from call to call.

A list is either the conversation as it was said, or what was sent of it with what came since. Both
kinds are found by how they begin, and go on the same conversation.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

from refold.conversation.cursor import View
from refold.conversation.economics import Budget
from refold.conversation.finder import Beginnings, Finder
from refold.conversation.report import FitResult
from refold.conversation.session import Session
from refold.conversation.strategies import Strategy
from refold.engine import Engine
from refold.llm.ask import Flow
from refold.messages.blocks import pair_warnings
from refold.messages.cache_marks import has_marks, with_marks, without_marks
from refold.messages.formats import load
from refold.messages.formats.objects import Objects
from refold.messages.token_count import CountedTexts
from refold.messages.wire import clone
from refold.tools.shapes import apply_short_form, drop_short_form

REUSED: Final = "reuse"
"""The step that says that an earlier fold was used again."""
_MOST: Final = 16
"""How many conversations are remembered."""


Ids = tuple[str, ...]


class Conversation(Session[Any]):
    """One conversation; for whoever holds its lock."""

    def __init__(self, engine: Engine, strategy: Strategy) -> None:
        self._begin(engine, strategy=strategy)
        self.lock = threading.Lock()
        self.early: Conversation | None = None
        """The same conversation, folded early; it may have fewer messages."""
        self.folded_at: tuple[int, ...] = ()
        """At which turns it was folded."""
        self.views = Beginnings()
        self._about: tuple[int, Ids, Ids, tuple[str, ...]] = (0, (), (), ())

    def fork(self) -> Self:
        """Return an independent copy, which was not given any list yet."""
        other = super().fork()
        other.lock, other.views = threading.Lock(), Beginnings()
        other.early = None
        return other

    @property
    def turn(self) -> int:
        """How often the model has spoken."""
        return sum(message.role == "assistant" for message in self.cursor.messages)

    def append(self, message: Any) -> None:
        """Add a message, in the short form of a `CompressionManager` if it has one."""
        wire = self._objects.read_one(message, len(self))
        original = drop_short_form(wire) if isinstance(wire, dict) else wire
        if original is wire:
            self.cursor.append(wire)
        else:
            self.cursor.append_short(original, apply_short_form(wire))

    def send(self, budget: Budget) -> Flow[View]:
        """Send it as it is, or folded if that is due."""
        if self._decide(budget):
            return (yield from self._fold_due())
        return self._send(self.cursor.now, is_cold=self._due.is_cold)

    def send_folded(self, budget: Budget) -> Flow[View]:
        """Send it after a fold in any case."""
        return self._fold_now(budget)

    def prepare(self, budget: Budget, size: float) -> Flow[bool]:
        """Fold a copy if the next view has more tokens than *size*; tell whether that was done."""
        if self._arrive().tokens <= size:
            return False
        early = self.fork()
        view = yield from early._fold(budget, is_forced=True)
        self.early = early if view.folds > self.cursor.now.folds else None
        return self.early is not None

    def adopt_early(self, budget: Budget) -> None:
        """Go on with what was folded early, if the next view is too long for a *budget*."""
        early, most = self.early, budget.tokens or 0
        if early is None or self._arrive().tokens <= budget.limit(self.cursor.now.landed, most):
            return
        for message in self.cursor.messages[len(early) :]:
            early.cursor.append(message.wire, message.stands_for)
        early.verbatim.update(self.verbatim)
        self.cursor, self.early = early.cursor, None
        self.account.note_folded()

    def take_in(self, messages: Sequence[Any], place: Place) -> int:
        """Add what a list has after a *place*; return the tokens of the list."""
        self._recount()
        self.extend(messages[place.length :])
        if not place.sent:
            return self.cursor.whole
        return count_messages(messages, self.cursor.cache.tokens, self.options.format)

    def write(self, messages: Sequence[Any], place: Place) -> list[Any]:
        """Return what to send for a list: of what is as it came there, a copy."""
        written: list[Any] = []
        for item in self.sent.current():
            at = item.first - place.known + place.length
            came = messages[at] if len(item.span) == 1 and at >= place.sent else None
            if type(came) is not dict or drop_short_form(came) is not came:
                written += self._objects.write([clone(item.wire)])
                continue
            wire = clone(came if item.is_verbatim else item.wire)
            if not item.is_verbatim and (has_marks(wire) or has_marks(came)):
                wire = with_marks(without_marks([wire])[0], came)  # these may have moved
            written.append(wire)
        return written

    def about(self) -> tuple[Ids, Ids, tuple[str, ...]]:
        """Return the ids that the last fold dropped, those in its summaries, and warnings."""
        originals, items = self.cursor.messages, self.sent.current()
        if self._about[0] != self.sent.folds or not self.sent.folds:
            inside = {place for item in items for place in item.span}
            gone = () if len(inside) == len(originals) else originals
            dropped = tuple(message.id for message in gone if message.index not in inside)
            shared = (place for item in items if len(item.span) > 1 for place in item.span)
            summarized = tuple(originals[place].id for place in shared)
            self._about = self.sent.folds, dropped, summarized, pair_warnings(originals)
        return self._about[1:]


class Place(NamedTuple):
    """Where a beginning of a list is in its conversation."""

    conversation: Conversation
    length: int = 0
    """How many messages the beginning has."""
    known: int = 0
    """How many messages of the conversation those are."""
    sent: int = 0
    """So many messages at its start are what was sent; the others are one for one."""


@dataclass(slots=True, eq=False)
class Turn:
    """One call: a list, and the conversation that it is, which this call alone may use."""

    messages: Sequence[Any]
    place: Place
    """What was known of the list."""
    tokens: int
    """Tokens of the list."""
    folds: int
    """How often the conversation was folded before."""
    is_sent: bool = True
    """Whether what is shown of it goes to the model."""

    @property
    def conversation(self) -> Conversation:
        """The conversation."""
        return self.place.conversation

    def result(self, available: int) -> FitResult[Any]:
        """Return what is sent, and what was done for it."""
        held, now = self.conversation, self.conversation.sent
        originals, items, report = held.cursor.messages, now.current(), now.budget
        messages = held.write(self.messages, self.place)
        dropped, summarized, warnings = held.about()
        singles = [item for item in items if len(item.span) == 1]
        changed = [i.first for i in singles if not i.is_verbatim or i.behind is not None]
        fits = now.tokens <= available
        if now.ends_in_summary and now.covered == now.seen:
            warnings = (*warnings, "it ends with a summary: there was no room for the last results")
        if not fits and report is not None:
            warnings = (*warnings, report.explain())
        steps: tuple[str, ...] = () if report is None or not now.folds else report.rungs
        pairs = enumerate(zip(self.messages, messages, strict=False))
        same = min(len(self.messages), len(messages))
        return FitResult(
            messages=messages,
            fits=fits,
            tokens_before=self.tokens,
            tokens_after=now.tokens,
            tokens_available=available,
            dropped_ids=dropped,
            summarized_ids=summarized,
            compressed_ids=tuple(originals[place].id for place in changed),
            steps=(REUSED, *steps) if now.folds and now.folds == self.folds else steps,
            first_changed=next((n for n, (a, b) in pairs if a is not b and a != b), same),
            thinking="stripped" if now.is_stripped else "kept",
            warnings=warnings,
            obstacles=() if fits or report is None else report.obstacles,
            verbatim=held.verbatim,
            model=held.report.model,
        )


class Turns:
    """The conversations of one window manager; safe to share between threads."""

    def __init__(self, engine: Engine, strategy: Strategy) -> None:
        self._engine, self._strategy = engine, strategy
        self._beginnings = Beginnings()
        self._finder = Finder[Place](_MOST)

    @contextmanager
    def turn(self, messages: Sequence[Any]) -> Iterator[Turn]:
        """Find the conversation of a list, add what is new, and hold it until the turn ends.

        A turn that fails leaves the conversation as it was.
        """
        names = self._beginnings.of(messages)
        place = self._find(names)
        held = place.conversation
        try:
            turn = Turn(messages, place, held.take_in(messages, place), held.cursor.now.folds)
            yield turn
        except BaseException:
            held.truncate(place.known)
            raise
        else:
            self._keep(turn, names)
        finally:
            held.lock.release()

    def _find(self, names: list[bytes]) -> Place:
        """Return what a list goes on, locked."""
        _, place = self._finder.find(names)
        # One that leaves a conversation early is best read anew; so is one that is in use.
        if (
            place is None
            or 2 * place.known < len(place.conversation)
            or not place.conversation.lock.acquire(blocking=False)
        ):
            place = Place(Conversation(self._engine, self._strategy))
            place.conversation.lock.acquire()
            return place
        held = place.conversation
        if place.known < len(held):
            try:
                branch = held.fork()
                branch.truncate(place.known)
            finally:
                held.lock.release()
            branch.lock.acquire()
            place = place._replace(conversation=branch)
        return place

    def _keep(self, turn: Turn, names: list[bytes]) -> None:
        """Let the list of a turn go on, and so may what was sent."""
        held, place = turn.conversation, turn.place
        offset = place.known - place.length
        known = {
            names[end - 1]: Place(held, end, end + offset, place.sent)
            for end in range(max(1, place.length), len(names) + 1)
        }
        view = held.views.of(held.wires)[-1:] if turn.is_sent else []
        for name in view:
            known.setdefault(name, Place(held, held.sent.count, len(held), held.sent.count))
        self._finder.keep(held, known)


def count_messages(messages: Sequence[Any], tokens: CountedTexts, format_name: str) -> int:
    """Return the tokens of a list, in the short forms of a `CompressionManager` if it has any."""
    wires = [apply_short_form(wire) for wire in Objects().read(messages)]
    return sum(map(tokens.message, load(wires, format_name=format_name)))
