"""What a session shows of its conversation: items that stay as they were sent until a refold."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from refold.conversation.arrival import Arrival
from refold.conversation.strategies import Strategy, Task, ends_in_summary
from refold.engine import Engine, ask_until_known
from refold.fold.texts import SYSTEM
from refold.llm.ask import Flow, Tally
from refold.messages.folds import Fold, Plan, kept_fold
from refold.messages.formats import Loader, load
from refold.messages.handles import seal_plan
from refold.messages.manifest import Behind, Get, Shown, Trail, folds_in, read_said, write_view
from refold.messages.message import Message
from refold.messages.render import Rendering, render_short_forms
from refold.messages.untouchable import is_pinned
from refold.messages.wire import clone
from refold.options import Options
from refold.result import BudgetReport, Obstacle
from refold.text_cache import TextCache

_HORIZON: Final = 12
"""A refold reads originals of so many times the tokens it lands at: 288,000 with "auto". What is
older goes in as the last view shows it, so that no refold costs more than that."""
NO_MESSAGES: Final[Mapping[int, Message]] = MappingProxyType({})
Limit = Callable[[Mapping[str, Any]], int | None]
"""Returns the most tokens of a message with results, or `None`."""
_CHANGED: Final = Fold(sources=())
"""Shows nothing that another fold shows."""


@dataclass(frozen=True, slots=True)
class Item:
    """One message of a view, and the originals that it stands for."""

    wire: dict[str, Any]
    first: int
    """The index in the conversation of the first message it stands for."""
    end: int
    """The index after the last."""
    tokens: int
    is_given: bool
    """Whether it shows its one message word for word."""
    is_stripped: bool = False
    """Whether thinking is left out of it."""
    behind: Behind | None = None
    """What it stands for, if it is a stand-in."""


@dataclass(frozen=True, slots=True)
class View:
    """A view; exchanged in one step, and its list of items only grows."""

    items: list[Item] = field(default_factory=list[Item])
    count: int = 0
    """How many of the items count: an interrupted call may have left more."""
    trail: Trail = field(default_factory=lambda: Trail(""))
    tokens: int = 0
    covered: int = 0
    """How many messages of the conversation are in view."""
    seen: int = 0
    """How many of them the last refold has seen."""
    landed: int = 0
    """Tokens of the view after the last refold."""
    folds: int = 0
    budget: BudgetReport | None = None
    is_stripped: bool = False
    ends_in_summary: bool = False
    """Whether what the model is to answer has become a summary: there was no room for it."""

    def shown(self) -> list[Item]:
        """Return its items."""
        return self.items if len(self.items) == self.count else self.items[: self.count]


class Cursor:
    """Everything about one conversation but when to fold; for one thread at a time."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.cache: TextCache = engine.new_text_cache()
        self.given: list[Message] = []
        self.totals: list[int] = []
        """Tokens of the messages as they were given, up to each."""
        self.now = View(trail=engine.new_trail())
        self.verbatim: dict[str, Any] = {}
        """Originals of everything that was not shown as given, and the records of all views."""
        self.tally = Tally()
        self.is_doubted = False
        """Whether thinking so far may be bound to messages other than the ones given."""
        self.sent_as_given = 0
        """How many messages were sent as given, if they are not in view yet."""
        self._loader = self._new_loader()
        self._trail = engine.new_trail()
        """What is known of the messages as they were given."""
        self._linked = 0
        """How many stand-ins among the given messages the records of the view know."""
        self._arrival: Arrival | None = None

    def _new_loader(self) -> Loader:
        options = self.engine.options
        return Loader(options.format, strict_roles=options.strict_roles)

    @property
    def options(self) -> Options:
        """The options that it folds with."""
        return self.engine.options

    @property
    def whole(self) -> int:
        """Tokens of the conversation as it was given."""
        return self.totals[len(self.given) - 1] if self.given else 0

    @property
    def fixed(self) -> int:
        """Tokens of the instructions that the conversation begins with."""
        place = 0
        while place < len(self.given) and self.given[place].role in SYSTEM:
            place += 1
        return self.totals[place - 1] if place else 0

    def append(self, wire: Any, stands_for: Behind | None = None) -> None:
        """Add one message; its last step is the one that counts.

        *stands_for* is what it was made of, if it is known to be a short form.
        """
        index = len(self.given)
        self._loader.rewind(index)
        loaded = self._loader.load(wire, index)
        own = loaded.changed(wire=clone(dict(wire)))
        if len(self._trail.keys) > index:  # an addition was interrupted, or undone
            self._trail = self._trail.copy(index)
        (message,) = self.engine.recognize((own,), self._trail)
        if stands_for is not None:
            message = message.changed(stands_for=stands_for)
        tokens = self.cache.tokens.message(message)
        self.totals[index:] = [self.whole + tokens]
        self.given.append(message)

    def append_short(self, original: dict[str, Any], sent: dict[str, Any]) -> None:
        """Add a message as it is *sent*: in a short form that the caller made of the *original*."""
        known = self._trail.copy(len(self.given))
        rendering = render_short_forms([original], [sent], known)
        self._keep(rendering.verbatim, rendering.entries)
        self.append(rendering.messages[0], rendering.stands[0])

    def count(self, messages: Sequence[Any]) -> int:
        """Return the tokens of any messages."""
        return sum(map(self.cache.tokens.message, load(messages, format_name=self.options.format)))

    def fork(self) -> Cursor:
        """Return an independent copy."""
        other = copy.copy(self)
        other.cache = self.engine.new_text_cache(before=self.cache)
        other.given, other.totals = self.given.copy(), self.totals.copy()
        other.now = replace(self.now, items=self.now.shown().copy())
        other.verbatim = self.verbatim.copy()
        other.tally = copy.deepcopy(self.tally)
        other._loader = self._loader.copy()
        other._trail = self._trail.copy()
        other._arrival = None
        return other

    def cut(self, length: int) -> bool:
        """Keep only the first *length* messages; tell whether the view begins anew with them."""
        now = self.now
        is_anew = length < now.seen
        if is_anew:
            self.is_doubted = self.is_doubted or now.folds > 0
            self.now = View(trail=self.engine.new_trail())
        elif length < now.covered:
            count = now.count - (now.covered - length)
            items, trail = now.items[:count], now.trail.copy(count)
            records, _ = write_view(trail, ())  # a shorter view, which has no record of its own yet
            self._keep(records, records)
            self.now = replace(
                now,
                items=items,
                count=count,
                covered=length,
                trail=trail,
                tokens=sum(item.tokens for item in items),
            )
        self._arrival = None
        self._trail = self._trail.copy(length)
        self._linked = 0
        self.sent_as_given = min(self.sent_as_given, length)
        del self.given[length:]
        del self.totals[length:]
        return is_anew

    def recount(self) -> None:
        """Count everything again, because the counter has learned."""
        self.cache.forget_counts()
        count = self.cache.tokens.message
        total = 0
        for index, message in enumerate(self.given):
            total += count(message)
            self.totals[index] = total
        items = [replace(item, tokens=count(self._read(item))) for item in self.now.shown()]
        self.now = replace(
            self.now, items=items, count=len(items), tokens=sum(item.tokens for item in items)
        )

    def _read(self, item: Item, place: int | None = None) -> Message:
        """Read a message of the view; at a *place* of its own, if given."""
        first = self.given[item.first]
        if item.is_given:
            return first if place is None else first.changed(index=place)
        index = item.first if place is None else place
        read = Loader(first.format).load(item.wire, index)
        return read if item.behind is None else read.changed(stands_for=item.behind)

    def arrive(self, limit: Limit | None = None) -> View:
        """Bring what is new into view: results respelled, unless they were sent as given.

        Of a result with more tokens than its *limit* only a part is shown.
        """
        self._relink()
        border = max(self.now.covered, self.sent_as_given)
        for end in (border, len(self.given)):
            fresh = self.given[self.now.covered : end]
            if not fresh:
                continue
            now, arrival = self.now, self._arrival or self._arrival_so_far(self.now)
            self._arrival = None  # what an exception interrupts is read again
            if end == border:
                folds = [kept_fold(message, "already_sent") for message in fresh]
                for message in fresh:
                    arrival.note(message, message)
            else:
                folds = [arrival.spell(message) for message in fresh]
                if limit is not None:
                    folds = self._cut(folds, limit)
            self.now = self._adopt(now, now.count, self._sealed(folds, now), fresh[0].index)
            self._arrival = arrival
        return self.now

    def _cut(self, folds: list[Fold], limit: Limit) -> list[Fold]:
        """Show parts of the results among *folds* that take more tokens than their *limit*."""
        count = self.cache.tokens
        long = {
            fold.sources[0].index: most
            for fold in folds
            if fold.sources[0].is_tool_result
            and not fold.sources[0].is_fixed
            and (most := limit(fold.sources[0].wire)) is not None
            and count.fold(fold) > most
        }
        if not long or self.options.profile == "lossless":
            return folds
        pinned = {m.index: "already_sent" for m in self.given if m.index not in long}
        target = sum(long.values()) + sum(count.message(self.given[index]) for index in pinned)
        options = replace(self.options, token_budget=target)
        plan, _ = self.engine.plan(self.given, self.cache, options, target, pinned=pinned)
        short = {
            fold.sources[0].index: fold
            for fold in plan
            if len(fold.sources) == 1 and not fold.is_rolled and fold.sources[0].index in long
        }
        best = [(fold, short.get(fold.sources[0].index, fold)) for fold in folds]
        return [cut if count.fold(cut) < count.fold(fold) else fold for fold, cut in best]

    def _sealed(self, folds: Sequence[Fold], now: View) -> Plan:
        """Return the folds of what is new as they will be written."""
        is_anchored = self.engine.conversation is not None or bool(now.trail.stands)
        plan = seal_plan(folds, is_named=is_anchored, tokens=self.cache.tokens)
        if not any(fold.sources[0].thinking for fold in plan):
            return plan
        # What was thought after a result that is first sent now was thought about another form of
        # it; and of a beginning that was given at once it is not known in which form it was sent.
        changed = next((n for n, fold in enumerate(plan) if not fold.is_kept), len(plan))
        is_first = not now.count or plan[0].sources[0].index < self.sent_as_given
        is_unknown = is_first and (self.is_doubted or changed < len(plan))
        start = 0 if is_unknown else changed
        return (*plan[:start], *self.engine.unbind(plan[start:], is_resumed=True))

    def _arrival_so_far(self, now: View) -> Arrival:
        """Return what a reader of the view has seen."""
        arrival = Arrival(self.options, self.cache)
        for item in now.shown():
            if item.is_given or item.first >= now.seen:
                arrival.note(self.given[item.first], self._read(item))
        return arrival

    def _relink(self) -> None:
        """Note in the records of the view which of the messages given turn out to be stand-ins.

        They are known by all of their view, and may have come one by one.
        """
        stands = self._trail.stands
        if len(stands) == self._linked:
            return
        get = self.engine.get
        for place, fold in stands:
            if place < len(self.given) and self.given[place].stands_for is None:
                self.given[place] = self.given[place].changed(stands_for=_behind(fold, get))
        now, items = self.now, self.now.shown()
        fresh = [
            replace(item, behind=self.given[item.first].stands_for) if item.is_given else item
            for item in items
        ]
        if fresh != items:
            trail = self._new_trail(now.trail)
            records, _ = write_view(
                trail, [Shown(read_said(item.wire), item.behind) for item in fresh]
            )
            self._keep(records, records)
            self.now = replace(now, items=fresh, count=len(fresh), trail=trail)
        self._linked = len(stands)

    def _new_trail(self, before: Trail, length: int = 0) -> Trail:
        trail = before.copy(length)
        trail.looked = min(trail.looked, self._trail.looked)
        return trail

    def _keep(self, verbatim: dict[str, Any], entries: dict[str, Any]) -> None:
        if self.engine.get is not None and entries:
            self.engine.save(Rendering(trail=self._trail, entries=entries))
        self.verbatim.update(verbatim)

    def hides_pinned(self) -> bool:
        """Tell whether a message that is pinned is not in view word for word."""
        pins = self.options.pins
        return any(
            not item.is_given
            and any(is_pinned(message, pins) for message in self.given[item.first : item.end])
            for item in self.now.shown()
        )

    def begin_anew(self) -> None:
        """Forget the view; everything is as before it was first sent."""
        self.is_doubted = self.is_doubted or any(not item.is_given for item in self.now.shown())
        self.now = View(trail=self.engine.new_trail(), folds=self.now.folds)
        self._arrival = None

    def refold(self, budget: int | None, target: int | None, strategy: Strategy) -> Flow[View]:
        """Fold everything anew, from the originals; return the view without adopting it.

        With a *target* under a *budget*, or as the profile folds without one.
        """
        now, self.tally.seconds_asked = self.now, 0.0
        sources, ranges = self._sources(now, _HORIZON * (target or self.whole))
        task = Task(
            messages=sources,
            engine=self.engine,
            text_cache=self.cache,
            budget=budget,
            target=target,
        )
        fitting = yield from ask_until_known(lambda: strategy(task), self.cache)
        plan, report, kept = fitting.plan, fitting.report, fitting.kept
        dropped = list[Message]()
        if kept is not None:
            dropped = [sources[place] for place in sorted({*range(len(sources))} - {*kept})]
            ranges = [ranges[place] for place in kept]
        self.cache.forget_sentences()
        plan = self.engine.seal(plan, tokens=self.cache.tokens if report is None else None)
        if report is not None:
            plan, report = self.engine.report_sealed(plan, report, self.cache.tokens)
            report = None if report is None else _by_index(report, ranges)
        same, shown = 0, list[Fold]()
        for item, fold in zip(now.shown(), plan, strict=False):
            is_same = fold.is_kept and fold.sources[0].index not in fitting.rewritten
            if not (item.is_given and is_same and _covers(ranges, fold, item)):
                shown.append(_CHANGED)
                break
            shown.append(fold)
            same += 1
        plan = self.engine.unbind(plan, shown, fitting.rewritten)
        same = next((n for n in range(same) if plan[n].is_stripped), same)
        before = View(items=now.items[:same], count=same, trail=now.trail, folds=now.folds)
        after = self._adopt(
            *(before, same, plan, 0, ranges), dropped=dropped, rewritten=fitting.rewritten
        )
        is_same = [i.wire for i in after.items] == [i.wire for i in now.shown()]
        return replace(
            after,
            seen=len(self.given),
            covered=len(self.given),
            landed=after.tokens,
            folds=now.folds + (not is_same),
            budget=report,
            ends_in_summary=ends_in_summary(sources, fitting.plan),
        )

    def adopt(self, view: View) -> None:
        """Show what a refold made."""
        self.now, self._arrival = view, None

    def _sources(self, now: View, most: int) -> tuple[list[Message], list[range]]:
        """Return what to fold anew, and for each the indices of the messages it stands for."""
        start, early = 0, list[Item]()
        if self.whole > most:
            before = self.whole - most
            for item in now.shown():
                is_inside = self.given[item.first].is_tool_result  # its call may be in a digest
                if item.first and self.totals[item.first - 1] >= before and not is_inside:
                    break
                early.append(item)
                start = item.end
        sources = [self._read(item, place) for place, item in enumerate(early)]
        for place, item in enumerate(early if self.options.pins else ()):
            given = self.given[item.first]  # what is pinned is known by how it was given
            if item.end - item.first == 1 and is_pinned(given, self.options.pins):
                sources[place] = given.changed(index=place)
        ranges = [range(item.first, item.end) for item in early]
        rest = self.given[start:]
        if early:
            rest = [m.changed(index=place) for place, m in enumerate(rest, len(early))]
        return [*sources, *rest], [
            *ranges,
            *(range(n, n + 1) for n in range(start, len(self.given))),
        ]

    def _adopt(
        self,
        now: View,
        first: int,
        plan: Plan,
        start: int,
        ranges: Sequence[range] = (),
        *,
        dropped: Sequence[Message] = (),
        rewritten: Mapping[int, Message] = NO_MESSAGES,
    ) -> View:
        """Write *plan* out from its fold for place *first* on; return the view with it.

        Without *ranges*, the plan is what comes at index *start* of the conversation. What was
        *dropped*, or *rewritten* before the plan was made, is kept beside it.
        """

        def add(rendering: Rendering) -> None:
            for message in (*dropped, *rewritten.values()):
                if message.stands_for is None:
                    rendering.keep(message)
            short = (s for fold in plan for s in fold.sources if s.index in rewritten)
            for behind in (message.stands_for for message in short):
                if behind is not None and behind.of:
                    record = behind.to_record()
                    rendering.entries[behind.fold] = rendering.verbatim[behind.fold] = record

        skipped = first if ranges else 0
        written, rendering = self.engine.write(
            plan[skipped:],
            trail=self._new_trail(now.trail, first),
            rewritten=rewritten,
            add=add,
        )
        self.verbatim.update(rendering.verbatim)
        fresh = list(self._items(written, rendering, start, ranges))
        now.items[first:] = fresh
        return replace(
            now,
            count=first + len(fresh),
            trail=rendering.trail,
            tokens=now.tokens + sum(item.tokens for item in fresh)
            if not ranges
            else sum(item.tokens for item in now.items),
            covered=start + len(plan) if not ranges else len(self.given),
            is_stripped=now.is_stripped
            or any(item.is_stripped for item in now.items[-len(fresh) :]),
        )

    def _items(
        self, plan: Plan, rendering: Rendering, start: int, ranges: Sequence[range]
    ) -> Iterator[Item]:
        written = zip(plan, rendering.messages, rendering.stands, strict=True)
        for number, (fold, wire, behind) in enumerate(written):
            if ranges:
                one = ranges[fold.sources[0].index]
                first, end = one.start, ranges[fold.sources[-1].index].stop
            else:
                first = start + number
                end = first + 1
            is_original = end - first == 1 and fold.sources[0].wire is self.given[first].wire
            yield Item(
                wire=wire,
                first=first,
                end=end,
                tokens=self.cache.tokens.fold(fold),
                is_given=fold.is_kept and is_original,
                is_stripped=fold.is_stripped,
                behind=behind,
            )


def _covers(ranges: Sequence[range], fold: Fold, item: Item) -> bool:
    return ranges[fold.sources[0].index] == range(item.first, item.end)


def _behind(fold: str, get: Get | None) -> Behind:
    return folds_in([fold], get).get(fold, Behind(fold)) if get else Behind(fold)


def _by_index(report: BudgetReport, ranges: Sequence[range]) -> BudgetReport:
    """Translate places among the sources of a fold to messages of the conversation."""
    obstacles: list[Obstacle] = [
        replace(o, message_index=ranges[o.message_index].start) for o in report.obstacles
    ]
    return replace(report, obstacles=tuple(obstacles))
