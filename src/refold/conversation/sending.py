"""What is sent of a conversation: the view as it was, or all of it folded anew where that pays."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from refold.conversation import strategies
from refold.conversation.cursor import Cursor, Limit, View
from refold.conversation.economics import Account, Budget, Rates, Reason
from refold.conversation.models import MILLION, PriceList, list_prices
from refold.conversation.report import SessionReport
from refold.conversation.strategies import Strategy
from refold.engine import Engine
from refold.errors import BudgetError
from refold.llm.ask import Flow
from refold.options import Options
from refold.scan.tokens.choose import factor_of

_DRIFT: Final = 0.02
"""How far a counter that learns may drift before everything is counted again."""
_MIN_GAIN: Final = 0.1
"""A fold that was not forced and saves less of the view than this is not shown."""


class Due(NamedTuple):
    """What was found when it was last asked whether a fold is due."""

    budget: Budget = Budget()
    reason: Reason | None = None
    is_cold: bool = False


class Sending:
    """A cursor, when it folds, and what both cost; for one thread at a time.

    A `Session` has one, and a `ContextWindowManager` one for each conversation.
    """

    def __init__(
        self,
        engine: Engine,
        prices: PriceList | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.cursor = Cursor(engine)
        self.account = Account(rates=Rates.of(engine.options.model, prices))
        self.sent: View = self.cursor.now
        """The last view, and what the provider's cache may have of it."""
        self.sent_at: float | None = None
        self.whole_sent = 0
        """Tokens that sending everything would have left in the provider's cache."""
        self.has_new_pins = False
        self.report = SessionReport()
        self.prices, self.clock = prices, clock
        self.tried: tuple[int, int | None] = (0, None)
        """How many messages were last folded because a budget was full, and its tokens."""
        self.due = Due()
        self._factor = factor_of(engine.options.counter)

    @property
    def options(self) -> Options:
        """The options that it folds with."""
        return self.cursor.options

    def fork(self) -> Sending:
        """Return an independent copy."""
        other = copy.copy(self)
        other.cursor, other.account = self.cursor.fork(), copy.copy(self.account)
        return other

    def cut(self, length: int) -> None:
        """Keep only the first *length* messages."""
        if self.cursor.cut(length):
            self.report = SessionReport()
        self.whole_sent = min(self.whole_sent, self.cursor.whole)
        self.tried = (0, None)

    def take(self, fork: Sending) -> None:
        """Go on from what a *fork* has folded; what came later stays as it was given."""
        ours, theirs = self.cursor, fork.cursor
        self.tried = fork.tried
        self.account.note_folded()
        if theirs.now.folds == ours.now.folds:  # it was not worth it
            ours.now = replace(ours.now, landed=theirs.now.landed)
            return
        later = ours.messages[len(theirs.messages) :]
        for message in later:
            theirs.append(message.wire)
        theirs.sent_verbatim, theirs.is_doubted = len(theirs.messages), bool(later)
        theirs.verbatim.update(ours.verbatim)
        self.cursor = theirs

    def recount(self) -> None:
        """Count everything again if the counter has learned."""
        factor = factor_of(self.options.counter)
        if abs(factor / self._factor - 1) > _DRIFT:
            self.cursor.recount()
            self._factor = factor

    def arrive(self, limit: Limit | None = None) -> View:
        """Bring what is new into view, and what was pinned since."""
        self.recount()
        now = self.cursor.arrive(limit)
        if self.has_new_pins:
            self.cursor.show_pinned()
            now = self.cursor.arrive()
        return now

    def is_due(
        self,
        budget: Budget,
        *,
        cold: bool | None = None,
        limit: Limit | None = None,
        may_fold: bool = True,
    ) -> bool:
        """Bring what is new into view; return whether to fold it. Then `fold_due`, or `stay`."""
        cursor, is_late = self.cursor, cold
        if is_late is None:
            seconds = self.account.rates.seconds
            is_late = self.sent_at is None or self.clock() - self.sent_at > seconds
        is_cold = is_late or not (self.sent.count or cursor.sent_verbatim)
        is_new = cursor.now.covered < len(cursor.messages) or is_cold or self.has_new_pins
        now, most = self.arrive(limit), self._most(budget)
        reason: Reason | None = None
        if not may_fold or not cursor.messages:
            pass
        elif most is not None and now.tokens > budget.limit(now.landed, most):
            # What could not be brought down before is not tried again until something is new.
            is_tried = self.tried == (now.covered, budget.tokens) and not self.options.strict
            reason = None if is_tried else "full"
        elif budget.way is not None and is_new:
            reason = self.account.due(
                now.tokens,
                cursor.whole,
                budget.landing(cursor.whole, cursor.fixed, None),
                limit=budget.step(self.options.model, now.landed, self.prices),
                cached=0 if is_cold else self.whole_sent,
                is_cold=is_cold,
            )
        self.due = Due(budget, reason, is_late)
        return reason is not None

    def _most(self, budget: Budget) -> int | None:
        """Return how much of a budget in tokens may be filled."""
        if budget.tokens is None or budget.is_exact:
            return budget.tokens
        return self.cursor.engine.aim(budget.tokens, self.cursor.cache.tokens)

    def stay(self) -> View:
        """Return what to send without a fold."""
        return self.note(self.cursor.now, self.sent, is_cold=self.due.is_cold)

    def fold_due(self, strategy: Strategy = strategies.fold) -> Flow[View]:
        """Return what to send after the fold that is due."""
        due, before, is_full = self.due, self.sent, self.due.reason == "full"
        attempt = (self.cursor.now.covered, due.budget.tokens)
        now = yield from self.fold(due.budget, strategy, is_forced=is_full)
        self.tried = attempt if is_full else self.tried
        return self.note(now, before, is_cold=due.is_cold)

    def refold(self, budget: Budget, strategy: Strategy = strategies.fold) -> Flow[View]:
        """Fold everything now, whether it pays or not; return what to send."""
        before = self.sent
        self.arrive()
        now = yield from self.fold(budget, strategy, is_forced=True)
        return self.note(now, before, is_cold=False)

    def fold(self, budget: Budget, strategy: Strategy, *, is_forced: bool) -> Flow[View]:
        """Return the view after a fold of everything; the one of now, if that saves too little."""
        cursor, now, most = self.cursor, self.cursor.now, self._most(budget)
        target = None
        if not budget.is_open:
            unread = 0 if most is None else self._unread()
            target = budget.landing(cursor.whole, cursor.fixed, most, now.tokens, unread)
        folded = yield from cursor.refold(budget.tokens or target, target, strategy)
        self.account.note_folded()
        report = folded.budget
        if self.options.strict and report is not None and budget.tokens and not report.fits:
            raise BudgetError(report.explain())
        is_over = most is not None and now.tokens > most
        share = 0.0 if is_forced else _MIN_GAIN
        gain = max(share * now.tokens, 0 if is_over else budget.least_gain)
        if folded.tokens <= now.tokens - gain:
            cursor.adopt(folded)
            return folded
        if report is not None:
            report = replace(report, token_count=now.tokens)
        cursor.now = replace(now, landed=now.tokens, budget=report or now.budget)
        return cursor.now

    def _unread(self) -> int:
        """Return the tokens of what came after the model last spoke."""
        messages, totals = self.cursor.messages, self.cursor.totals
        spoken = (
            n for n, m in enumerate(reversed(messages)) if m.is_turn and m.role == "assistant"
        )
        place = len(messages) - next(spoken, len(messages))
        return totals[-1] - totals[place - 1] if place else 0

    def note(self, now: View, before: View, *, is_cold: bool) -> View:
        """Note that *now* is sent after the view *before*: both bills, and the report."""
        same = tokens = 0
        if now.items is before.items:
            same, tokens = min(before.count, now.count), before.tokens
            if same < before.count:
                tokens = sum(item.tokens for item in now.items[:same])
        else:
            for old, new in zip(before.current(), now.current(), strict=False):
                if old is not new and old.wire != new.wire:
                    break
                same, tokens = same + 1, tokens + new.tokens
        cursor, account = self.cursor, self.account
        if self.sent_at is None or now is not before or is_cold:
            account.note_sent(
                view=now.tokens,
                view_cached=0 if is_cold else tokens,
                whole=cursor.whole,
                whole_cached=0 if is_cold else self.whole_sent,
            )
        self.whole_sent, self.sent, self.sent_at = cursor.whole, now, self.clock()
        self.has_new_pins = cursor.is_doubted = False
        cursor.tally.keep_latest()
        price = (self.prices or list_prices()).find(self.options.model or "")
        usd = None if price is None else price.usd_per_million / MILLION
        self.report = SessionReport(
            messages=now.count,
            tokens=now.tokens,
            tokens_unfolded=cursor.whole,
            first_changed=same,
            cached_share=tokens / now.tokens if now.tokens else 0.0,
            counter_failures=cursor.cache.tokens.failures,
            folds=now.folds,
            thinking="stripped" if now.is_stripped else "kept",
            budget=now.budget,
            model=cursor.tally.report() if cursor.engine.asker.is_enabled else None,
            spent_usd=None if usd is None else usd * account.spent,
            saved_usd=None if usd is None else usd * (account.plain - account.spent),
        )
        return now
