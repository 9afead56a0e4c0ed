"""A growing conversation: what was sent never changes until all of it is folded anew.

Providers sell the beginning of a prompt that they have seen before at a fraction of the price. So a
result is respelled once, on arrival, before it is first sent; and everything is folded anew only
where that pays: when the provider's cache has run out, when reading the long form has cost more
than folding it, or when it must be.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Generic, Self, Unpack

from refold.api import NamedChoices
from refold.checks import check_whole
from refold.conversation.budgets import Budget
from refold.conversation.cursor import Cursor, View
from refold.conversation.economics import Account, Rates
from refold.conversation.models import MILLION, PriceList, list_prices
from refold.conversation.report import SessionReport
from refold.conversation.saved import check_given, read_state, reading, write_state
from refold.engine import Engine, combine, scoped, split_helpers
from refold.errors import BudgetError, MessageError, StoreError
from refold.messages.blocks import answered_by
from refold.messages.formats.objects import Objects
from refold.messages.wire import clone
from refold.options import Options, Pin
from refold.plan.profiles import preset_of
from refold.result import M
from refold.scan.tokens.choose import factor_of
from refold.stores.base import Store

_GIVEN_AGAIN: Final = ("summarizer", "detectors", "codecs", "rules")
"""What is not saved with a session and must be passed again to `resume`."""
_DRIFT: Final = 0.02
"""How far a counter that learns may drift before everything is counted again."""
_MIN_GAIN: Final = 0.1
"""A fold that was not forced and saves less of the view than this is not shown."""


class Session(Generic[M]):
    """A growing conversation: `append` each message, send what `view` returns.

        session = Session(model="claude-sonnet-4-5", token_budget="auto", store=store)
        session.append({"role": "user", "content": question})
        reply = client.messages.create(model=…, messages=session.view())

    Without a budget, results are only respelled, without loss. With one, the beginning is folded:

    - `"auto"` when it pays, down to 30 % of the conversation, at least 8,000 and at most 24,000
      tokens; `"careful"` down to 40 %, `"tight"` down to 12,000, `"30%"` to a share of your own
    - a number of tokens: only when the view would be larger, down to half of it

    The messages of a view belong to the session: read them, send them, but do not change them.
    An exception at any point, such as `KeyboardInterrupt`, leaves the session as it was before the
    call, or as it is after it.
    """

    def __init__(
        self,
        options: Options | None = None,
        *,
        store: Store | None = None,
        prices: PriceList | None = None,
        clock: Callable[[], float] = time.time,
        **choices: Unpack[NamedChoices],
    ) -> None:
        """Take what `Compressor` takes; a summarizer is asked when the session folds.

        *prices* replaces the list prices that come with refold. *clock* says the time in seconds,
        by which it is known when the provider's cache has run out.
        """
        self._store, self._prices, self._clock = store, prices, clock
        self._helpers, fields = split_helpers(choices)
        self._models = [name for name in _GIVEN_AGAIN if self._helpers.get(name) is not None]
        budget = fields.get("token_budget")
        if isinstance(budget, str):
            del fields["token_budget"]
        combined = combine(options, fields)
        self._budget = Budget.of(budget if isinstance(budget, str) else combined.token_budget)
        if preset_of(combined.profile).refers_ahead:
            # Later copies refer to the first one, so that what was shown need not change.
            combined = replace(combined, keep_duplicate="first")
        self._cursor = Cursor(Engine(combined, store=store, **self._helpers))
        self._account = Account(rates=Rates.of(combined.model, prices))
        self._objects = Objects()
        self._awaited: set[str] = set()
        """Calls whose results are to come."""
        self._sent: View = self._cursor.now
        """The last view, and what the provider's cache may have of it."""
        self._sent_at: float | None = None
        self._whole_sent = 0
        """Tokens that sending everything would have left in the provider's cache."""
        self._has_new_pins = False
        self._tried: tuple[int, int | None] = (0, None)
        """How many messages were last folded under a budget in tokens, and under which."""
        self._factor = factor_of(combined.counter)
        self._report = SessionReport()

    def __repr__(self) -> str:
        now = self._cursor.now
        return (
            f"{type(self).__name__}(messages={len(self)}, tokens={now.tokens}, folds={now.folds})"
        )

    def __len__(self) -> int:
        """Return how many messages the conversation has."""
        return len(self._cursor.given)

    @property
    def options(self) -> Options:
        """The options that it folds with."""
        return self._cursor.options

    @property
    def conversation(self) -> str | None:
        """Its name, if it has one."""
        return self._cursor.engine.conversation

    @property
    def verbatim(self) -> dict[str, Any]:
        """Originals of everything folded so far; the store has them too, if there is one."""
        return self._cursor.verbatim

    @property
    def report(self) -> SessionReport:
        """Figures of the last view."""
        return self._report

    def append(self, message: M) -> None:
        """Add one message, a mapping or an object; the session keeps its own copy of a mapping."""
        given = self._cursor.given
        self._cursor.append(self._objects.read_one(message, len(given)))
        self._await(len(given) - 1)

    def extend(self, messages: Iterable[M]) -> None:
        """Add messages in order."""
        for message in messages:
            self.append(message)

    def _await(self, place: int) -> None:
        """Note which calls wait for results after the message at *place*."""
        message = self._cursor.given[place]
        if place and not message.is_tool_result and self._cursor.given[place - 1].is_tool_result:
            self._awaited = set()  # the talk went on
        if message.calls:
            self._awaited.update(call.id for call in message.calls)
        if self._awaited:
            self._awaited -= answered_by(message)

    def _waits(self) -> bool:
        """Tell whether more results are to come: no provider takes a part of them."""
        return bool(self._awaited) and self._cursor.given[-1].is_tool_result

    def pop(self) -> M:
        """Take back the last message, and return it as it was given."""
        if not len(self):
            raise MessageError("there is none to take back", "messages")
        last: list[M] = self._objects.write([clone(dict(self._cursor.given[-1].wire))])
        self.truncate(len(self) - 1)
        return last[0]

    def truncate(self, length: int) -> None:
        """Keep only the first *length* messages, as if the later ones had never been appended.

        Up to the last fold the view stays as it was. A fold depends on what came last when it was
        made, so if one of the messages that it has seen goes, the session begins anew with the
        others. What was folded can still be restored.
        """
        check_whole("length", length)
        if length < len(self):
            if self._cursor.cut(length):
                self._report = SessionReport()
            self._awaited = set()
            for place in range(length):
                self._await(place)
            self._whole_sent = min(self._whole_sent, self._cursor.whole)

    def fork(self) -> Self:
        """Return an independent session with the same state; both write to the same store."""
        other = copy.copy(self)
        other._cursor = self._cursor.fork()
        other._objects = self._objects.copy()
        other._account = copy.copy(self._account)
        other._awaited = self._awaited.copy()
        return other

    def pin(self, *pins: Pin) -> None:
        """Keep messages unchanged from now on: by id, as `role:NAME`, or by a function.

        Messages that were folded before come back into the next view, which changes from there on.
        """
        options = replace(self.options, pins=(*self.options.pins, *pins))
        self._cursor.engine = Engine(options, store=self._store, **self._helpers)
        self._has_new_pins = True

    @property
    def messages(self) -> list[M]:
        """The whole conversation as it was given, copied."""
        return self._objects.write([clone(dict(m.wire)) for m in self._cursor.given])

    def note_sent(self) -> None:
        """Treat what was appended since the last view as sent, word for word.

        Call it where there was no view to send, for example because a store failed, and the
        messages were sent without folding.
        """
        cursor = self._cursor
        cursor.sent_as_given = len(cursor.given)
        with suppress(StoreError):  # then it is written with the next view
            self._sent = cursor.arrive()
        self._sent_at, self._whole_sent = self._clock(), cursor.whole

    def doubt_thinking(self) -> None:
        """Leave all thinking so far out of the next view, if there was no view before.

        Call it where these messages may have been sent in another form than the one given. What a
        model thought then is bound to that form, and its provider rejects it after any other.
        """
        self._cursor.is_doubted = True

    @property
    def wires(self) -> list[dict[str, Any]]:
        """The messages of the last view as plain data; what `retrieve_tool` wants to see."""
        return [item.wire for item in self._sent.shown()]

    @property
    def unchanged(self) -> list[int | None]:
        """For each message of the last view, the index of the one that it shows word for word."""
        return [item.first if item.is_given else None for item in self._sent.shown()]

    @property
    def places(self) -> list[range]:
        """For each message of the last view, the indices of those that it stands for."""
        return [range(item.first, item.end) for item in self._sent.shown()]

    @property
    def folded_length(self) -> int:
        """How many messages the last fold has seen: `truncate` to fewer begins anew."""
        return self._cursor.now.seen

    def view(
        self,
        token_budget: int | str | None = None,
        *,
        cold: bool | None = None,
        result_tokens: int | None = None,
    ) -> list[M]:
        """Return what to send now, after a fold if one is due.

        While results of parallel calls are still to come, nothing is folded: no provider takes the
        conversation without them.

        *token_budget* replaces the session's for this view. *cold* says whether the provider's
        cache has run out; without it, the time since the last view does. Of a new result with more
        than *result_tokens* only a part is shown; by default it is whole. `BudgetError` with
        `strict=True` if the budget cannot be kept, `StoreError` if the store fails.
        """
        budget = self._budget if token_budget is None else Budget.of(token_budget)
        before = self._sent
        if cold is None:
            is_late = (
                self._sent_at is None or self._clock() - self._sent_at > self._account.rates.seconds
            )
        else:
            is_late = cold
        now = self._next(
            budget,
            is_cold=is_late or not (before.count or self._cursor.sent_as_given),
            result_tokens=result_tokens,
        )
        self._note(now, before, is_cold=is_late)
        return self._objects.write([item.wire for item in now.shown()])

    async def aview(
        self, token_budget: int | str | None = None, *, cold: bool | None = None
    ) -> list[M]:
        """Return the same as `view` without blocking the event loop."""
        return await asyncio.to_thread(self.view, token_budget, cold=cold)

    def refold(self, token_budget: int | str | None = None) -> list[M]:
        """Fold everything now, whether it pays or not; return what to send.

        To half of a number of tokens, and without any budget as `compress` would.
        """
        budget = self._budget if token_budget is None else Budget.of(token_budget)
        before = self._sent
        now = self._folded(self._cursor.arrive(), budget, is_forced=True)
        self._note(now, before, is_cold=False)
        return self._objects.write([item.wire for item in now.shown()])

    def _next(self, budget: Budget, *, is_cold: bool, result_tokens: int | None) -> View:
        """Return the view to send, which the cursor has adopted."""
        cursor = self._cursor
        factor = factor_of(self.options.counter)
        if abs(factor / self._factor - 1) > _DRIFT:
            cursor.recount()
            self._factor = factor
        is_new = cursor.now.covered < len(cursor.given) or is_cold
        now = cursor.arrive(result_tokens)
        if self._has_new_pins and cursor.hides_pinned():
            cursor.begin_anew()
            now, is_new = cursor.arrive(), True
        if budget.is_open or not cursor.given or (self._sent.count and self._waits()):
            return now
        aim = self._aim(budget)
        if aim is not None:
            attempt = (now.covered, budget.tokens)
            if now.tokens <= aim or (attempt == self._tried and not self.options.strict):
                return now
            folded = self._folded(now, budget, is_forced=True)
            self._tried = attempt
            return folded
        if not is_new:
            return now
        reason = self._account.due(
            now.tokens,
            cursor.whole,
            budget.landing(cursor.whole, None),
            limit=budget.limit(self.options.model, now.landed, self._prices),
            cached=0 if is_cold else self._whole_sent,
            is_cold=is_cold,
        )
        return now if reason is None else self._folded(now, budget, is_forced=reason == "full")

    def _aim(self, budget: Budget) -> int | None:
        """Return how much of a budget in tokens may be filled."""
        if budget.tokens is None:
            return None
        return self._cursor.engine.aim(budget.tokens, self._cursor.cache.tokens)

    def _folded(self, now: View, budget: Budget, *, is_forced: bool) -> View:
        """Return the view after a fold of everything; *now*, if that does not pay."""
        cursor = self._cursor
        if budget.is_open:
            folded = cursor.refold(None, None)
        else:
            aim = self._aim(budget)
            unread = 0 if aim is None else self._unread()
            landing = budget.landing(cursor.whole, aim, unread)
            folded = cursor.refold(budget.tokens or landing, landing)
        self._account.note_folded()
        report = folded.budget
        if self.options.strict and report is not None and budget.tokens and not report.fits:
            raise BudgetError(report.explain())
        gain = 0.0 if is_forced else _MIN_GAIN
        if folded.tokens > (1 - gain) * now.tokens:
            folded = replace(now, landed=now.tokens, budget=report or now.budget)
            if report is not None:
                folded = replace(folded, budget=replace(report, token_count=now.tokens))
            cursor.now = folded
        else:
            cursor.adopt(folded)
        return cursor.now

    def _unread(self) -> int:
        """Return the tokens of what came after the model last spoke."""
        given, totals = self._cursor.given, self._cursor.totals
        place = len(given)
        while place and not (given[place - 1].is_turn and given[place - 1].role == "assistant"):
            place -= 1
        return totals[-1] - totals[place - 1] if place else 0

    def _note(self, now: View, before: View, *, is_cold: bool) -> None:
        """Note that *now* is sent: both bills, and the report."""
        same = tokens = 0
        if now.items is before.items:
            same, tokens = min(before.count, now.count), before.tokens
            if same < before.count:
                tokens = sum(item.tokens for item in now.items[:same])
        else:
            for old, new in zip(before.shown(), now.shown(), strict=False):
                if old is not new and old.wire != new.wire:
                    break
                same, tokens = same + 1, tokens + new.tokens
        cursor, account = self._cursor, self._account
        if self._sent_at is None or now is not before or is_cold:
            account.note_sent(
                view=now.tokens,
                view_cached=0 if is_cold else tokens,
                whole=cursor.whole,
                whole_cached=0 if is_cold else self._whole_sent,
            )
        self._whole_sent, self._sent, self._sent_at = cursor.whole, now, self._clock()
        self._has_new_pins = cursor.is_doubted = False
        cursor.tally.keep_latest()
        price = (self._prices or list_prices()).find(self.options.model or "")
        usd = None if price is None else price.usd_per_million / MILLION
        self._report = SessionReport(
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

    def save(self, store: Store) -> str:
        """Write everything to *store* and return the key with which to `resume`."""
        account, rates = self._account, self._account.rates
        return write_state(
            scoped(store, self.conversation),
            self._cursor,
            facts={
                "budget": [self._budget.tokens, self._budget.way],
                "account": [account.spent, account.plain, account.saved],
                "rates": [rates.read, rates.written, rates.seconds],
                "sent": [self._sent.count, self._sent_at, self._whole_sent],
                "models": self._models,
                "report": self._report.to_dict(),
            },
        )

    @classmethod
    def resume(
        cls,
        key: str,
        store: Store,
        *,
        prices: PriceList | None = None,
        clock: Callable[[], float] = time.time,
        **choices: Unpack[NamedChoices],
    ) -> Self:
        """Resume a saved session; it continues byte for byte as if it had never stopped.

        Functions and models cannot be saved: a counter or a summarizer that was given
        must be given again. Other choices replace those that were saved. `StoreError` if
        anything that was saved is missing or not as it was.
        """
        helpers, others = split_helpers(choices)
        budget = others.pop("token_budget", None) if "token_budget" in others else ...
        with reading(key):
            saved = read_state(scoped(store, helpers.get("conversation")), key, others)
            facts = saved.facts
            check_given(facts["models"], helpers)
            session = cls(saved.options, store=store, prices=prices, clock=clock, **helpers)
            session.extend(session._objects.revive(saved.messages))
            saved.rebuild(session._cursor)
            session._budget = Budget(*facts["budget"]) if budget is ... else Budget.of(budget)
            session._report = SessionReport.from_dict(facts["report"])
            read, written, seconds = facts["rates"]
            rates = Rates(read=read, written=written, seconds=seconds)
            rates = session._account.rates if prices else rates
            spent, plain, cost = facts["account"]
            session._account = Account(rates=rates, spent=spent, plain=plain, saved=cost)
            count, session._sent_at, session._whole_sent = facts["sent"]
            now = session._cursor.now
            items = now.shown()
            tokens = sum(item.tokens for item in items[:count])
            session._sent = replace(now, count=count, tokens=tokens)
            session._has_new_pins = bool(session.options.pins)
        return session
