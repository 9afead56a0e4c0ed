"""What a session shows of its conversation: items that stay as they were sent until a refold."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final

from refold.conversation.strategies import Strategy, Task, ends_in_summary
from refold.engine import Engine, ask_until_known
from refold.fold.texts import SYSTEM
from refold.fold.whole import Speller
from refold.llm.ask import Flow, Tally
from refold.messages.folds import Fold, Plan, kept_fold
from refold.messages.formats import Loader
from refold.messages.handles import seal_plan
from refold.messages.manifest import Behind, Trail, ViewRow, folds_in, read_wording, write_view
from refold.messages.message import Message
from refold.messages.render import Rendering, render_short_forms
from refold.messages.untouchable import is_pinned, reason_to_stay
from refold.messages.wire import clone
from refold.options import Options
from refold.result import BudgetReport
from refold.text_cache import TextCache

_HORIZON: Final = 12
"""A refold reads originals of so many times the tokens it lands at: 288,000 with "auto". What is
older goes in as the last view shows it, so that no refold costs more than that."""
_NO_MESSAGES: Final[Mapping[int, Message]] = MappingProxyType({})
_CHANGED: Final = Fold(sources=())
"""Shows nothing that another fold shows."""
Limit = Callable[[Mapping[str, Any]], int | None]
"""Returns the most tokens of a message with results, or `None`."""


@dataclass(frozen=True, slots=True)
class Item:
    """One message of a view, and the originals that it stands for."""

    wire: dict[str, Any]
    first: int
    """The index in the conversation of the first message it stands for."""
    end: int
    """The index after the last."""
    tokens: int
    is_verbatim: bool
    """Whether it shows its one message word for word."""
    is_stripped: bool = False
    """Whether thinking is left out of it."""
    behind: Behind | None = None
    """What it stands for, if it is a stand-in."""

    @property
    def span(self) -> range:
        """The indices of the messages that it stands for."""
        return range(self.first, self.end)


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

    def current(self) -> list[Item]:
        """Return its items."""
        return self.items if len(self.items) == self.count else self.items[: self.count]

    def first_items(self, count: int) -> View:
        """Return a view of its own with the first items of this one."""
        items = self.items[:count]
        trail, tokens = self.trail.copy(count), sum(item.tokens for item in items)
        return replace(self, items=items, count=count, trail=trail, tokens=tokens)

    def shared_with(self, before: View) -> tuple[int, int]:
        """Return how many items it begins with that *before* has, too, and their tokens."""
        if self.items is before.items:
            same = min(before.count, self.count)
            is_all = same == before.count
            return same, before.tokens if is_all else sum(i.tokens for i in self.items[:same])
        same = tokens = 0
        for old, new in zip(before.current(), self.current(), strict=False):
            if old is not new and old.wire != new.wire:
                break
            same, tokens = same + 1, tokens + new.tokens
        return same, tokens


class Cursor:
    """Everything about one conversation but when to fold; for one thread at a time."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.cache: TextCache = engine.new_text_cache()
        self.messages: list[Message] = []
        self.totals: list[int] = []
        """Tokens of the messages as they were given, up to each."""
        self.now = View(trail=engine.new_trail())
        self.verbatim: dict[str, Any] = {}
        """Originals of everything that was not shown as given, and the records of all views."""
        self.tally = Tally()
        self.is_doubted = False
        """Whether thinking so far may be bound to messages other than the ones given."""
        self.sent_verbatim = 0
        """How many messages were sent as given, if they are not in view yet."""
        self._loader = Loader(self.options.format, strict_roles=self.options.strict_roles)
        self._trail = engine.new_trail()
        """What is known of the messages as they were given."""
        self._linked = 0
        """How many stand-ins among the given messages the records of the view know."""
        self._speller: Speller | None = None
        """Knows what a reader of the view has seen; made when it is needed."""

    @property
    def options(self) -> Options:
        """The options that it folds with."""
        return self.engine.options

    @property
    def whole(self) -> int:
        """Tokens of the conversation as it was given."""
        return self.totals[len(self.messages) - 1] if self.messages else 0

    @property
    def fixed(self) -> int:
        """Tokens of the instructions that the conversation begins with."""
        rest = (place for place, message in enumerate(self.messages) if message.role not in SYSTEM)
        place = next(rest, len(self.messages))
        return self.totals[place - 1] if place else 0

    @property
    def unread(self) -> int:
        """Tokens of what came after the model last spoke."""
        answers = (m.index for m in self.messages if m.is_turn and m.role == "assistant")
        last = max(answers, default=None)
        return 0 if last is None else self.whole - self.totals[last]

    def append(self, wire: Any, stands_for: Behind | None = None) -> None:
        """Add one message; its last step is the one that counts.

        *stands_for* is what it was made of, if it is known to be a short form.
        """
        index = len(self.messages)
        self._loader.rewind(index)
        loaded = self._loader.load(wire, index).changed(wire=clone(dict(wire)))
        if len(self._trail.keys) > index:  # an addition was interrupted, or undone
            self._trail = self._trail.copy(index)
        (message,) = self.engine.recognize((loaded,), self._trail)
        if stands_for is not None:
            message = message.changed(stands_for=stands_for)
        self.totals[index:] = [self.whole + self.cache.tokens.message(message)]
        self.messages.append(message)

    def append_short(self, original: dict[str, Any], sent: dict[str, Any]) -> None:
        """Add a message as it is *sent*: in a short form that the caller made of the *original*."""
        rendering = render_short_forms([original], [sent], self._trail.copy(len(self.messages)))
        self._keep(rendering.verbatim, rendering.entries)
        self.append(rendering.messages[0], rendering.stands[0])

    def fork(self) -> Cursor:
        """Return an independent copy."""
        other = copy.copy(self)
        other.cache = self.engine.new_text_cache(before=self.cache)
        other.messages, other.totals = self.messages.copy(), self.totals.copy()
        other.now = replace(self.now, items=self.now.current().copy())
        other.verbatim = self.verbatim.copy()
        other.tally = copy.deepcopy(self.tally)
        other._loader, other._trail = self._loader.copy(), self._trail.copy()
        other._speller = None
        return other

    def cut(self, length: int) -> bool:
        """Keep only the first *length* messages; return whether the view begins anew with them."""
        now = self.now
        is_anew = length < now.seen
        if is_anew:
            self.is_doubted = self.is_doubted or now.folds > 0
            self.now = View(trail=self.engine.new_trail())
        elif length < now.covered:
            shorter = now.first_items(now.count - (now.covered - length))
            records, _ = write_view(shorter.trail, ())  # it has no record of its own yet
            self._keep(records, records)
            self.now = replace(shorter, covered=length)
        self._speller = None
        self._trail = self._trail.copy(length)
        self._linked = 0
        self.sent_verbatim = min(self.sent_verbatim, length)
        del self.messages[length:]
        del self.totals[length:]
        return is_anew

    def recount(self) -> None:
        """Count everything again, because the counter has learned."""
        self.cache.forget_counts()
        count = self.cache.tokens.message
        total = 0
        for index, message in enumerate(self.messages):
            total += count(message)
            self.totals[index] = total
        items = [replace(item, tokens=count(self._read(item))) for item in self.now.current()]
        tokens = sum(item.tokens for item in items)
        self.now = replace(self.now, items=items, count=len(items), tokens=tokens)

    def _read(self, item: Item, place: int | None = None) -> Message:
        """Read a message of the view; at a *place* of its own, if given."""
        first = self.messages[item.first]
        if item.is_verbatim:
            return first if place is None else first.changed(index=place)
        read = Loader(first.format).load(item.wire, item.first if place is None else place)
        return read if item.behind is None else read.changed(stands_for=item.behind)

    # --- what is new ----------------------------------------------------------------------------

    def arrive(self, limit: Limit | None = None) -> View:
        """Bring what is new into view: results respelled, unless they were sent as given.

        Of a result with more tokens than its *limit* only a part is shown.
        """
        self._relink()
        border = max(self.now.covered, self.sent_verbatim)
        for end in (border, len(self.messages)):
            fresh = self.messages[self.now.covered : end]
            if not fresh:
                continue
            now, speller = self.now, self._speller or self._speller_so_far()
            self._speller = None  # what an exception interrupts is read again
            if end == border:
                folds = [kept_fold(message, "already_sent") for message in fresh]
                for message, fold in zip(fresh, folds, strict=True):
                    speller.note(message, fold)
            else:
                folds = [self._spell(message, speller) for message in fresh]
                if limit is not None:
                    folds = self._excerpt(folds, limit)
            spans = [range(message.index, message.index + 1) for message in fresh]
            self.now = self._write(self._sealed(folds, now), spans, now)
            self._speller = speller
        return self.now

    def _speller_so_far(self) -> Speller:
        """Return one that knows what a reader of the view has seen in a form that loses nothing."""
        speller = Speller(self.cache.tokens, self.cache.codecs, is_quoted=True)
        for item in self.now.current():
            if item.is_verbatim or item.first >= self.now.seen:
                message = self.messages[item.first]
                texts = {number: part.text for number, part in enumerate(self._read(item).parts)}
                speller.note(message, Fold(sources=(message,), texts=texts))
        return speller

    def _spell(self, message: Message, speller: Speller) -> Fold:
        """Return how the next message is sent: once, before anything depends on its form."""
        why = reason_to_stay(message, self.options)
        if not why and self.options.profile == "classic":
            why = "not_folded_yet"
        if not why:
            return speller.spell(message)
        fold = kept_fold(message, why)
        speller.note(message, fold)
        return fold

    def _excerpt(self, folds: list[Fold], limit: Limit) -> list[Fold]:
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
        pinned = {m.index: "already_sent" for m in self.messages if m.index not in long}
        target = sum(long.values()) + sum(count.message(self.messages[index]) for index in pinned)
        options = replace(self.options, token_budget=target)
        plan, _ = self.engine.plan(self.messages, self.cache, options, target, pinned=pinned)
        short = {
            fold.sources[0].index: fold
            for fold in plan
            if len(fold.sources) == 1 and not fold.is_rolled and fold.sources[0].index in long
        }
        best = [(fold, short.get(fold.sources[0].index, fold)) for fold in folds]
        return [cut if count.fold(cut) < count.fold(fold) else fold for fold, cut in best]

    def _sealed(self, folds: Sequence[Fold], now: View) -> Plan:
        """Return the folds of what is new as they will be written."""
        plan = seal_plan(folds, tokens=self.cache.tokens)
        if not any(fold.sources[0].thinking for fold in plan):
            return plan
        # What was thought after a result that is first sent now was thought about another form of
        # it; and of a beginning that was given at once it is not known in which form it was sent.
        changed = next((n for n, fold in enumerate(plan) if not fold.is_kept), len(plan))
        is_first = not now.count or plan[0].sources[0].index < self.sent_verbatim
        is_unknown = is_first and (self.is_doubted or changed < len(plan))
        start = 0 if is_unknown else changed
        return (*plan[:start], *self.engine.unbind(plan[start:], is_resumed=True))

    def _relink(self) -> None:
        """Note in the records of the view which of the messages given turn out to be stand-ins.

        They are known by all of their view, and may have come one by one.
        """
        stands, get = self._trail.stands, self.engine.get
        if len(stands) == self._linked:
            return
        for place, fold in stands:
            if place < len(self.messages) and self.messages[place].stands_for is None:
                known = folds_in([fold], get) if get else {}
                behind = known.get(fold, Behind(fold))
                self.messages[place] = self.messages[place].changed(stands_for=behind)
        items = self.now.current()
        fresh = [
            replace(item, behind=self.messages[item.first].stands_for) if item.is_verbatim else item
            for item in items
        ]
        if fresh != items:
            trail = self._trail_after(self.now, 0)
            rows = [ViewRow(read_wording(item.wire), item.behind) for item in fresh]
            records, _ = write_view(trail, rows)
            self._keep(records, records)
            self.now = replace(self.now, items=fresh, count=len(fresh), trail=trail)
        self._linked = len(stands)

    # --- everything anew ------------------------------------------------------------------------

    def show_pinned(self) -> None:
        """Forget the view if a pinned message is not in it word for word."""
        pins = self.options.pins
        if any(
            not item.is_verbatim
            and any(is_pinned(message, pins) for message in self.messages[item.first : item.end])
            for item in self.now.current()
        ):
            self.is_doubted = True  # the thinking so far came of stand-ins
            self.now = View(trail=self.engine.new_trail(), folds=self.now.folds)
            self._speller = None

    def refold(self, budget: int | None, target: int | None, strategy: Strategy) -> Flow[View]:
        """Fold everything anew, from the originals; return the view without adopting it.

        With a *target* under a *budget*, or as the profile folds without one.
        """
        now, self.tally.seconds_asked = self.now, 0.0
        sources, places = self._sources(_HORIZON * (target or self.whole))
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
            dropped = [sources[n] for n in sorted({*range(len(sources))} - {*kept})]
            places = [places[n] for n in kept]
        self.cache.forget_sentences()
        plan = self.engine.seal(plan, tokens=self.cache.tokens if report is None else None)
        if report is not None:
            plan, report = self.engine.report_sealed(plan, report, self.cache.tokens)
        if report is not None:  # its places are those among the sources
            obstacles = [
                replace(o, message_index=places[o.message_index].start) for o in report.obstacles
            ]
            report = replace(report, obstacles=tuple(obstacles))
        spans = [
            range(places[fold.sources[0].index].start, places[fold.sources[-1].index].stop)
            for fold in plan
        ]
        same, unchanged = 0, list[Fold]()
        for item, fold, span in zip(now.current(), plan, spans, strict=False):
            is_same = fold.is_kept and fold.sources[0].index not in fitting.rewritten
            if not (item.is_verbatim and is_same and item.span == span):
                unchanged.append(_CHANGED)
                break
            unchanged.append(fold)
            same += 1
        plan = self.engine.unbind(plan, unchanged, fitting.rewritten)
        same = next((n for n in range(same) if plan[n].is_stripped), same)
        before = replace(now.first_items(same), is_stripped=False)
        after = self._write(plan[same:], spans[same:], before, dropped, fitting.rewritten)
        is_changed = [i.wire for i in after.items] != [i.wire for i in now.current()]
        return replace(
            after,
            seen=len(self.messages),
            covered=len(self.messages),
            landed=after.tokens,
            folds=now.folds + is_changed,
            budget=report,
            ends_in_summary=ends_in_summary(sources, fitting.plan),
        )

    def adopt(self, view: View) -> None:
        """Show what a refold made."""
        self.now, self._speller = view, None

    def _sources(self, most: int) -> tuple[list[Message], list[range]]:
        """Return what to fold anew, and for each the indices of the messages it stands for.

        What is older than the newest *most* tokens goes in as it is shown now.
        """
        start, early = 0, list[Item]()
        if self.whole > most:
            for item in self.now.current():
                is_inside = self.messages[item.first].is_tool_result  # its call may be in a digest
                is_recent = item.first and self.totals[item.first - 1] >= self.whole - most
                if is_recent and not is_inside:
                    break
                early.append(item)
                start = item.end
        sources = [self._read(item, place) for place, item in enumerate(early)]
        for place, item in enumerate(early if self.options.pins else ()):
            original = self.messages[item.first]  # what is pinned is known by how it came
            if len(item.span) == 1 and is_pinned(original, self.options.pins):
                sources[place] = original.changed(index=place)
        rest = self.messages[start:]
        if early:
            rest = [m.changed(index=place) for place, m in enumerate(rest, len(early))]
        singles = (range(n, n + 1) for n in range(start, len(self.messages)))
        return [*sources, *rest], [*(item.span for item in early), *singles]

    # --- writing --------------------------------------------------------------------------------

    def _write(
        self,
        plan: Plan,
        spans: Sequence[range],
        before: View,
        dropped: Sequence[Message] = (),
        rewritten: Mapping[int, Message] = _NO_MESSAGES,
    ) -> View:
        """Write *plan* out after the view *before*; return the view with it.

        Each fold stands for the messages in one of the *spans*. What was *dropped*, or *rewritten*
        before the plan was made, is kept beside it.
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

        trail = self._trail_after(before, before.count)
        written, rendering = self.engine.write(plan, trail=trail, rewritten=rewritten, add=add)
        self.verbatim.update(rendering.verbatim)
        rows = zip(written, spans, rendering.messages, rendering.stands, strict=True)
        fresh = [
            Item(
                wire=wire,
                first=span.start,
                end=span.stop,
                tokens=self.cache.tokens.fold(fold),
                is_verbatim=fold.is_kept
                and len(span) == 1
                and fold.sources[0].wire is self.messages[span.start].wire,
                is_stripped=fold.is_stripped,
                behind=behind,
            )
            for fold, span, wire, behind in rows
        ]
        before.items[before.count :] = fresh
        return replace(
            before,
            count=before.count + len(fresh),
            trail=rendering.trail,
            tokens=before.tokens + sum(item.tokens for item in fresh),
            covered=spans[-1].stop if spans else before.covered,
            is_stripped=before.is_stripped or any(item.is_stripped for item in fresh),
        )

    def _trail_after(self, view: View, count: int) -> Trail:
        trail = view.trail.copy(count)
        trail.looked = min(trail.looked, self._trail.looked)
        return trail

    def _keep(self, verbatim: dict[str, Any], entries: dict[str, Any]) -> None:
        if self.engine.get is not None and entries:
            self.engine.save(Rendering(trail=self._trail, entries=entries))
        self.verbatim.update(verbatim)
