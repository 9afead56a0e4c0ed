"""When a session folds, and how: above high water, and as late in the list as possible."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from refold.classic.rules import recent_from
from refold.conversation.append_only import Arrivals, report_sent, unsent_from
from refold.conversation.limits import FoldThresholds
from refold.conversation.report import SessionReport
from refold.conversation.saved import Saved
from refold.conversation.state import State
from refold.conversation.view import Item, View, by_index, unshare
from refold.engine import Engine
from refold.errors import BudgetError
from refold.fold.lay_out import target_for_newest
from refold.llm.ask import Tally
from refold.messages.blocks import answered_by
from refold.messages.folds import Plan
from refold.messages.manifest import Trail
from refold.messages.token_count import CountedTexts
from refold.messages.untouchable import find_untouchable, is_pinned
from refold.options import Options
from refold.plan.profiles import preset_of
from refold.plan.text_cache import TextCache

T = TypeVar("T")

_MIN_TAIL_TOKENS: Final = 1_000
"""Without a budget nothing is folded for less. A guess: a fold costs the provider's cache of all
that follows it, and of so few tokens it can only save hundreds."""
_FACTOR_SLACK: Final = 0.01
"""How far a counter's factor may drift before everything is counted again."""


class Folding:
    """Decides for one session what its next view is, and writes it out."""

    def __init__(self, state: State, thresholds: FoldThresholds) -> None:
        self.state = state
        self.thresholds = thresholds
        self.tally = Tally()
        self.verbatim: dict[str, Any] = {}
        """Originals of everything folded so far, and records of all views."""
        self.sent: tuple[View, int] = (state.view, 0)
        """The last view, and how many of its items it showed."""
        self.report = SessionReport()
        self.has_new_pins = False
        """Whether messages may have been pinned that are out of view."""
        self.is_doubted = False
        """Whether thinking so far may be bound to messages other than the ones given."""
        self._arrivals = Arrivals(state, self._settle)
        self._written: tuple[list[Item], Trail | None] = ([], None)
        """The items that were last written out, and their trail."""
        self._linked = 0
        """How many items of the view there is a record for."""
        self._awaited: tuple[int, set[str]] = (0, set())
        """How many items of the view were looked at, and which calls wait for results then."""

    @property
    def _engine(self) -> Engine:
        return self.state.engine

    @property
    def _options(self) -> Options:
        return self.state.engine.options

    @property
    def _cache(self) -> TextCache:
        return self.state.text_cache

    @property
    def _tokens(self) -> CountedTexts:
        return self.state.text_cache.tokens

    def _settle(self, make: Callable[[], T]) -> T:
        """Make a plan, asking for whatever it wants to know."""
        return self._engine.settle(make, self._cache, self.tally)

    @property
    def shown(self) -> list[Item]:
        """What the last view showed."""
        view, count = self.sent
        return view.items[:count]

    def note_sent(self) -> None:
        """Treat all messages so far as sent."""
        self.sent = (self.state.view, len(self.state.view.items))

    def go_back(self, length: int) -> None:
        """Keep only the first *length* messages; begin anew if the last fold has seen others."""
        view = self.state.cut(length)
        if view.seen < self.state.view.seen:
            self.is_doubted = self.is_doubted or self.state.view.folds > 0
            self.report = SessionReport()
        self.state.view = view
        self._linked = 0
        self._awaited = 0, set()

    def go_on(self, saved: Saved) -> None:
        """Restore the state of a saved session, once all of its messages were appended."""
        self.report = SessionReport.from_dict(saved.facts["report"])
        self.tally = Tally.of(self.report.model)
        view, verbatim = saved.rebuild(self.state)
        self.verbatim.update(verbatim)
        self.state.view = replace(view, folds=self.report.folds, budget=self.report.budget)
        self.sent = (self.state.view, saved.facts["sent"])
        self.has_new_pins = bool(self._options.pins)
        self.is_doubted = saved.facts.get("is_doubted", False)

    def first_changed(self) -> int:
        """Return the place of the first message that the last view did not show there."""
        before, count = self.sent
        if before is self.state.view:
            return count
        same = 0
        for old, new in zip(self.shown, self.state.view.items, strict=False):
            if old.wire is not new.wire:
                break
            same += 1
        return same

    def advance(self, budget: int | None) -> View:
        """Show the next view, folded if a trigger fires, and report on it."""
        self.state.view = self._linked_view(self._next(budget))
        self.has_new_pins = self.is_doubted = False
        now = self.state.view
        first_changed = self.first_changed()
        self.tally.keep_latest()
        self.report = SessionReport(
            messages=len(now.items),
            tokens=now.tokens,
            tokens_unfolded=now.unfolded_tokens,
            first_changed=first_changed,
            cached_share=now.tokens_before(first_changed) / now.tokens if now.tokens else 0.0,
            counter_failures=self._tokens.failures,
            folds=now.folds,
            thinking="stripped" if now.is_stripped else "kept",
            budget=now.budget,
            model=self.tally.report() if self._engine.asker.is_enabled else None,
        )
        self.sent = (now, len(now.items))
        return now

    def _next(self, budget: int | None) -> View:
        """Decide whether to fold now, and how; return what to show."""
        now = self.state.counted(_FACTOR_SLACK)
        way = self._options.thinking
        if not self.report.messages and way != "append":
            return self._fold_all(now, budget, target=self._first_target(now, budget))
        if self.has_new_pins and way != "append":
            given = self.state.read_given(now.length)
            pinned = {message.index for message in given if is_pinned(message, self._options.pins)}
            if any(item.hides(pinned) for item in now.items):
                items = unshare(now.items, given, pinned, self._tokens)
                return self._fold_all(replace(now, items=items), budget)
        if way == "append" or (way == "auto" and self._arrivals.are_bound(now)):
            arrived = self._arrive(now, budget)
            if way == "append" or not self._is_over(arrived, budget):
                return arrived
            now = replace(arrived, folds=now.folds)  # one view is one fold at most
        if budget is None:
            grown = now.tail_tokens >= max(_MIN_TAIL_TOKENS, self.thresholds.growth * now.tokens)
            now = replace(now, is_guarded=False) if now.is_guarded else now
            return self._adopt(now, self._fold_tail(now, {})) if grown else now
        aim = self._engine.aim(budget, self._tokens)
        if not now.is_guarded:
            # Without a budget, what no budget may touch may have been folded.
            given = self.state.read_given(now.length)
            wanted = set(find_untouchable(given, self._options))
            if any(item.hides(wanted) for item in now.items):
                items = unshare(now.items, given, wanted, self._tokens)
                return self._fold_all(replace(now, items=items), budget)
            now = replace(now, is_guarded=True)
        is_calm = now.tokens <= self.thresholds.high_water * aim or now.is_best_for(budget)
        if is_calm or self._waits(now):  # one fold after the last of many results will do
            return now
        low_water, gain = self._landing(now, aim), self.thresholds.min_gain * aim
        untouchable = find_untouchable(now.sources, self._options)
        is_worth_it = now.tokens > aim or now.tail_tokens >= gain
        if is_worth_it and self._settled_or_kept(now, untouchable) > low_water:
            # However short the rest became, it would be too long: there is no need to try.
            return self._fold_all(now, budget, target=low_water)
        plan = self._fold_tail(now, untouchable)
        cost = sum(map(self._tokens.fold, plan))
        if cost <= low_water:
            return self._adopt(now, plan)
        if now.tokens <= aim and now.tokens - cost < gain:
            return now
        return self._fold_all(now, budget, target=low_water)

    def _waits(self, now: View) -> bool:
        """Tell whether results of the newest calls are to come: without them nothing can be sent.

        Only what was not looked at before is, since hundreds may come one by one.
        """
        count, waiting = self._awaited
        for place in range(count, len(now.items)):
            message = now.items[place].source
            if place and not message.is_tool_result and now.items[place - 1].source.is_tool_result:
                waiting.clear()  # the talk went on
            waiting.update(call.id for call in message.calls)
            waiting -= answered_by(message)
        self._awaited = len(now.items), waiting
        last = now.items[-1].source
        return bool(waiting) and (last.is_tool_result or bool(last.calls))

    def _linked_view(self, now: View) -> View:
        """Write a record for given stand-ins, which now follow other ones."""
        if any(item.source.stands_for is not None for item in now.items[self._linked :]):
            shown = self._adopt(now, tuple(item.fold for item in now.items), is_new=True)
            now = replace(now, items=shown.items)
        self._linked = len(now.items)
        return now

    def _first_target(self, now: View, budget: int | None) -> int | None:
        """Return the target of the first view if it must be folded: that of later ones."""
        if budget is None:
            return None
        aim = self._engine.aim(budget, self._tokens)
        return self._landing(now, aim) if now.tokens > aim else None

    def _landing(self, now: View, aim: int) -> int:
        """Return the tokens to fold a view down to: fewer than *aim*, so that it can grow again.

        Results that the model has not read yet stay whole where they fit: then it lands higher.
        """
        low_water = int(self.thresholds.low_water * aim)
        sources = now.sources
        keeps_unread = preset_of(self._options.profile).keeps_unread
        if not keeps_unread or not (sources and sources[-1].is_tool_result):
            return low_water
        untouchable = find_untouchable(sources, self._options)
        needed = target_for_newest(sources, untouchable, self._tokens)
        return max(low_water, needed) if needed <= aim else low_water

    def _is_over(self, now: View, budget: int | None) -> bool:
        """Tell whether the view has grown so much that it has to be folded."""
        if budget is None:
            return False
        return now.tokens > self.thresholds.high_water * self._engine.aim(budget, self._tokens)

    def _arrive(self, now: View, budget: int | None) -> View:
        """Shorten the tool results that were never sent; all else stays for good."""
        sources = now.sources
        is_known = self.report.messages or self.sent[1]
        start = self.first_changed() if is_known else unsent_from(sources)
        sent = now.items[:start]
        is_last_resort = self._options.thinking == "append"  # nothing else can give way
        used = now.tokens_before(start) if is_last_resort else None
        rest = self._arrivals.plan(sources, start, budget, used)
        plan = (*(item.fold for item in sent), *rest)
        if any(not fold.is_kept for fold in rest):
            # What came later has no part in it, so the last fold is still the one before.
            arrived = self._adopt(now, plan, is_new=True)
            now = replace(arrived, settled=now.settled, folded=now.folded, seen=now.seen)
        if is_last_resort and budget is not None:
            now = replace(now, budget=report_sent(now, budget, self._options, self._tokens))
        return now

    def _fold_all(self, now: View, budget: int | None, target: int | None = None) -> View:
        """Fold everything that is in view, from the originals where there is one."""
        options = replace(self._options, token_budget=budget)
        sources = now.sources
        plan, report = self._settle(
            lambda: self._engine.plan(sources, self._cache, options, target)
        )
        _, report = self._engine.sealed((plan, report), self._tokens)
        report = report and by_index(report, now.items)
        if options.strict and report is not None and not report.fits:
            raise BudgetError(report.explain())
        folded = self._adopt(
            replace(now, is_guarded=budget is not None, budget=report or now.budget),
            plan,
            is_resumed=not self.report.messages and self._is_past_unknown(now, plan, budget),
        )
        if report is None or report.token_count == folded.tokens:
            return folded
        return replace(folded, budget=replace(report, token_count=folded.tokens))

    def _is_past_unknown(self, now: View, plan: Plan, budget: int | None) -> bool:
        """Tell whether the beginning may have been sent in a form other than the one given."""
        if self.is_doubted:
            return any(item.source.thinking for item in now.items)
        return self._arrivals.are_unknown(now, plan, budget)

    def _fold_tail(self, now: View, pinned: Mapping[int, str]) -> Plan:
        """Keep what is settled, and fold what came after it, except for *pinned*."""
        sources, hidden = now.sources, now.hidden(now.settled)
        rest = self._settle(
            lambda: self._engine.plan_rest(
                sources, self._cache, start=now.settled, hidden=hidden, pinned=pinned
            )
        )
        return (*(item.fold for item in now.items[: now.settled]), *rest)

    def _settled_or_kept(self, now: View, pinned: Container[int]) -> int:
        """Return the tokens of what `_fold_tail` keeps."""
        rest = range(now.settled, len(now.items))
        recent = self._recent_from(now)
        kept = (now.items[n].source for n in rest if n >= recent or n in pinned)
        return now.tokens_before(now.settled) + sum(map(self._tokens.message, kept))

    def _recent_from(self, now: View) -> int:
        """Return the place in the view of the first message that the rules leave alone."""
        window = self._options.recency_window
        return recent_from(now.sources, window)

    def _adopt(
        self, now: View, plan: Plan, *, is_new: bool = False, is_resumed: bool = False
    ) -> View:
        """Write *plan* out, and return the view after it.

        If all that it changes *is_new*, no thinking is bound to that. A conversation that
        *is_resumed* may have been sent otherwise before.
        """
        self.tally.settle(self._cache.written_in(plan))
        sealed = self._engine.seal(plan, tokens=None if now.is_guarded else self._tokens)
        if not is_new:
            shown = [item.fold for item in self.state.view.items]
            sealed = self._engine.unbind(sealed, shown, is_resumed=is_resumed)
        first, trail = self._go_on_from(now, sealed)
        plan, rendering = self._engine.write(sealed, first=first, trail=trail)
        self.verbatim.update(rendering.verbatim)
        items = self.state.show(plan, rendering, now.items, first=first)
        before = self.state.view.items  # *now* may have been unshared since
        is_same = len(items) == len(before)
        for place, (old, new) in enumerate(zip(before, items, strict=False)):
            if old.wire is not new.wire and old.wire != new.wire:
                is_same = False
                break
            items[place] = replace(new, wire=old.wire)
        self._written = items.copy(), rendering.trail
        self._linked = len(items)
        self._awaited = 0, set()
        border = self._recent_from(now)
        self.state.keep_texts(items)
        return replace(
            now,
            items=items,
            settled=sum(fold.sources[0].index < border for fold in plan),
            folded=len(items),
            seen=now.length,
            is_stripped=any(item.fold.is_stripped for item in items),
            folds=now.folds + (not is_same),
        )

    def _go_on_from(self, now: View, sealed: Plan) -> tuple[int, Trail]:
        """Return how many items stay as they were written last, and their trail."""
        items, trail = self._written
        count = 0
        for item, old, fold in zip(now.items, items, sealed, strict=False):
            if item.fold is not old.fold or item.wire is not old.wire or fold is not item.fold:
                break
            count += 1
        fresh = self._engine.new_trail() if trail is None else trail.copy(count)
        fresh.looked = min(fresh.looked, self.state.trail.looked)
        return (0 if trail is None else count), fresh
