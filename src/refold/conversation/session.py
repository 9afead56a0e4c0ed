"""A growing conversation: what was sent never changes until all of it is folded anew.

Providers sell the beginning of a prompt that they have seen before at a fraction of the price. So a
result is respelled once, on arrival, before it is first sent; and everything is folded anew only
where that pays: when the provider's cache has run out, when reading the long form has cost more
than folding it, or when it must be.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Generic, NamedTuple, Self, Unpack

from refold.checks import check_whole
from refold.choices import Choices, combine, spelled_out, split_helpers
from refold.conversation import strategies
from refold.conversation.cursor import Cursor, Limit, View
from refold.conversation.economics import Account, Budget, Rates, Reason
from refold.conversation.models import MILLION, PriceList, list_prices
from refold.conversation.report import SessionReport
from refold.conversation.saved import (
    check_passed,
    follow_trace,
    read_options,
    read_state,
    reading,
    restore,
    spell_trace,
    write_state,
)
from refold.engine import Engine
from refold.errors import BudgetError, MessageError, StoreError
from refold.llm.ask import Flow, arun, run
from refold.messages.blocks import answered_by
from refold.messages.formats.objects import Objects
from refold.messages.wire import clone
from refold.options import Options, Pin
from refold.result import M
from refold.scan.tokens.choose import factor_of
from refold.stores.base import Store
from refold.stores.scope import scoped

_PASSED_AGAIN: Final = ("summarizer", "detectors", "codecs", "rules")
"""What is not saved with a session and must be passed again to `resume`."""
_DRIFT: Final = 0.02
"""How far a counter that learns may drift before everything is counted again."""
_MIN_GAIN: Final = 0.1
"""A fold that was not forced and saves less of the view than this is not shown."""


class _Due(NamedTuple):
    """What was decided when it was last asked whether a fold is due."""

    budget: Budget = Budget()
    reason: Reason | None = None
    is_cold: bool = False


class Session(Generic[M]):
    """A growing conversation: `append` each message, send what `view` returns.

        session = Session(model="claude-sonnet-4-5", token_budget="auto", store=store)
        session.append({"role": "user", "content": question})
        reply = client.messages.create(model=…, messages=session.view())

    Without a budget, tool results are re-encoded without loss. With one, the conversation is
    folded:

    - `"auto"`: when that pays, down to 30 % of the conversation, but 8,000 to 24,000 tokens;
      `"careful"` down to 40 %, `"tight"` to 12,000 tokens, `"30%"` to the share you name
    - a number of tokens: when the view would be larger, down to half of it

    The messages of a view belong to the session: send them, but do not change them. After an
    exception, even a `KeyboardInterrupt`, the session is as it was before the call or after it.
    """

    @spelled_out
    def __init__(
        self,
        options: Options | None = None,
        *,
        store: Store | None = None,
        prices: PriceList | None = None,
        clock: Callable[[], float] = time.time,
        **choices: Unpack[Choices],
    ) -> None:
        """Take what `Compressor` takes; a summarizer is asked when the session folds.

        *prices* replaces the list prices that come with refold. *clock* says the time in seconds,
        by which it is known when the provider's cache has run out.
        """
        self._store = store
        self._helpers, fields = split_helpers(choices)
        budget = fields.get("token_budget")
        if isinstance(budget, str):
            del fields["token_budget"]
        combined = combine(options, fields)
        if combined.token_share is not None:
            budget = f"{100 * combined.token_share:g}%"
            combined = replace(combined, token_share=None)
        if combined.profile == "classic":
            # Later copies refer to the first one, so that what was shown need not change.
            combined = replace(combined, keep_duplicate="first")
        self._budget = Budget.of(budget if isinstance(budget, str) else combined.token_budget)
        engine = Engine(combined, store=store, is_session=True, **self._helpers)
        self._begin(engine, prices=prices, clock=clock)

    def _begin(
        self,
        engine: Engine,
        *,
        prices: PriceList | None = None,
        clock: Callable[[], float] = time.time,
        strategy: strategies.Strategy = strategies.fold,
    ) -> None:
        self.cursor = Cursor(engine)
        self.account = Account(rates=Rates.of(engine.options.model, prices))
        self.sent: View = self.cursor.now
        """The last view, and what the provider's cache may have of it."""
        self.sent_at: float | None = None
        self.whole_sent = 0
        """Tokens that sending everything would have left in the provider's cache."""
        self.tried: tuple[int, int | None] = (0, None)
        """How many messages were last folded because a budget was full, and its tokens."""
        self.has_new_pins = False
        self._prices, self._clock, self._strategy = prices, clock, strategy
        self._factor = factor_of(engine.options.counter)
        self._due = _Due()
        self._report = SessionReport()
        self._objects = Objects()
        self._awaited: set[str] = set()
        """Calls whose results are to come."""

    def __repr__(self) -> str:
        now = self.cursor.now
        return (
            f"{type(self).__name__}(messages={len(self)}, tokens={now.tokens}, folds={now.folds})"
        )

    def __len__(self) -> int:
        """Return how many messages the conversation has."""
        return len(self.cursor.messages)

    @property
    def options(self) -> Options:
        """The options of this session."""
        return self.cursor.options

    @property
    def conversation(self) -> str | None:
        """Its name, if it has one."""
        return self.cursor.engine.conversation

    @property
    def verbatim(self) -> dict[str, Any]:
        """Originals of everything folded so far; the store has them, too."""
        return self.cursor.verbatim

    @property
    def report(self) -> SessionReport:
        """Figures of the last view."""
        return self._report

    # --- the conversation -----------------------------------------------------------------------

    def append(self, message: M) -> None:
        """Add one message, a mapping or an object; the session copies a mapping."""
        place = len(self)
        self.cursor.append(self._objects.read_one(message, place))
        self._await(place)

    def extend(self, messages: Iterable[M]) -> None:
        """Add messages in order."""
        for message in messages:
            self.append(message)

    def _await(self, place: int) -> None:
        """Note which calls wait for results after the message at *place*."""
        message = self.cursor.messages[place]
        is_after_results = place > 0 and self.cursor.messages[place - 1].is_tool_result
        if is_after_results and not message.is_tool_result:
            self._awaited = set()  # the talk went on
        if message.calls:
            self._awaited.update(call.id for call in message.calls)
        if self._awaited:
            self._awaited -= answered_by(message)

    def pop(self) -> M:
        """Remove the last message and return it."""
        if not len(self):
            raise MessageError("there is no message to remove", "messages")
        last: list[M] = self._objects.write([clone(dict(self.cursor.messages[-1].wire))])
        self.truncate(len(self) - 1)
        return last[0]

    def truncate(self, length: int) -> None:
        """Keep the first *length* messages, as if the later ones had never been appended."""
        check_whole("length", length)
        if length >= len(self):
            return
        if self.cursor.cut(length):
            self._report = SessionReport()
        self.whole_sent = min(self.whole_sent, self.cursor.whole)
        self.tried = (0, None)
        self._awaited = set()
        for place in range(length):
            self._await(place)

    def fork(self) -> Self:
        """Return an independent session with the same state, which writes to the same store."""
        other = copy.copy(self)
        other.cursor, other.account = self.cursor.fork(), copy.copy(self.account)
        other._objects, other._awaited = self._objects.copy(), self._awaited.copy()
        return other

    def pin(self, *pins: Pin) -> None:
        """Keep messages unchanged from now on: by id, as `role:NAME`, or by a function.

        Messages that were folded before come back into the next view, which changes from there on.
        """
        options = replace(self.options, pins=(*self.options.pins, *pins))
        self.cursor.engine = Engine(options, store=self._store, is_session=True, **self._helpers)
        self.has_new_pins = True

    @property
    def messages(self) -> list[M]:
        """A copy of the whole conversation, unfolded."""
        return self._objects.write([clone(dict(m.wire)) for m in self.cursor.messages])

    def note_sent(self) -> None:
        """Treat what was appended since the last view as sent, word for word.

        Call it where there was no view to send, for example because a store failed, and the
        messages were sent without folding.
        """
        self.cursor.sent_verbatim = len(self)
        with suppress(StoreError):  # then it is written with the next view
            self.sent = self.cursor.arrive()
        self.sent_at, self.whole_sent = self._clock(), self.cursor.whole

    def doubt_thinking(self) -> None:
        """Leave all thinking so far out of the next view, if there was no view before.

        Call it where these messages may have been sent in another form than the one given. What a
        model thought then is bound to that form, and its provider rejects it after any other.
        """
        self.cursor.is_doubted = True

    # --- the last view --------------------------------------------------------------------------

    @property
    def wires(self) -> list[dict[str, Any]]:
        """The messages of the last view as plain data, which `retrieve_tool` needs."""
        return [item.wire for item in self.sent.current()]

    @property
    def unchanged(self) -> list[int | None]:
        """For each message of the last view, the index of the one that it shows word for word."""
        return [item.first if item.is_verbatim else None for item in self.sent.current()]

    @property
    def places(self) -> list[range]:
        """For each message of the last view, the indices of the messages it stands for."""
        return [item.span for item in self.sent.current()]

    @property
    def folded_length(self) -> int:
        """How many messages the last fold has seen: `truncate` to fewer begins anew."""
        return self.cursor.now.seen

    @property
    def due(self) -> Reason | None:
        """Why a fold was due when it was last asked."""
        return self._due.reason

    @property
    def idle_seconds(self) -> float | None:
        """How long ago the last view was; `None` if there was none."""
        return None if self.sent_at is None else self._clock() - self.sent_at

    # --- the next view --------------------------------------------------------------------------

    def view(
        self,
        token_budget: int | str | None = None,
        *,
        cold: bool | None = None,
        result_tokens: int | Limit | None = None,
    ) -> list[M]:
        """Return what to send now, after a fold if one is due.

        While results of parallel calls are still to come, nothing is folded: no provider takes the
        conversation without them.

        *token_budget* replaces the session's for this view. *cold* says whether the provider's
        cache has run out; without it, the time since the last view does. Of a new result with more
        than *result_tokens*, a number or what a function returns for its message, only a part is
        shown; by default it is whole. `BudgetError` with `strict=True` if the budget cannot be
        kept, `StoreError` if the store fails.
        """
        if self.is_due(token_budget, cold=cold, result_tokens=result_tokens):
            return self.fold()
        return self.stay()

    async def aview(
        self, token_budget: int | str | None = None, *, cold: bool | None = None
    ) -> list[M]:
        """Return the same as `view` without blocking the event loop."""
        if not self.is_due(token_budget, cold=cold):
            return self.stay()
        asker, tally = self.cursor.engine.asker, self.cursor.tally
        return self._written(await arun(self._fold_due(), asker, tally))

    def is_due(
        self,
        token_budget: int | str | None = None,
        *,
        cold: bool | None = None,
        result_tokens: int | Limit | None = None,
    ) -> bool:
        """Return whether `view` would fold now; then `fold` does, and `stay` sends it as it is.

        Call it once for each view. A fold takes longer than all else: with these three it can be
        made in a `fork`, in another thread, and taken over by `take` when it is ready.
        """
        limit = result_tokens if callable(result_tokens) else lambda _: result_tokens
        waits = bool(self._awaited) and self.cursor.messages[-1].is_tool_result
        return self._decide(
            self._budget_of(token_budget),
            cold=cold,
            limit=None if result_tokens is None else limit,
            # No provider takes a part of the results of parallel calls.
            may_fold=not (self.sent.count and waits),
        )

    def fold(self) -> list[M]:
        """Fold because it `is_due`, and return what to send."""
        return self._written(self._run(self._fold_due()))

    def stay(self) -> list[M]:
        """Return what to send without a fold."""
        return self._written(self._send(self.cursor.now, is_cold=self._due.is_cold))

    def refold(self, token_budget: int | str | None = None) -> list[M]:
        """Fold everything now, and return what to send."""
        return self._written(self._run(self._fold_now(self._budget_of(token_budget))))

    def take(self, fork: Self) -> None:
        """Go on from what a *fork* of this session has folded; the fork is not used any more.

        What was appended meanwhile has been sent since, and stays as it was given.
        """
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

    def _budget_of(self, token_budget: int | str | None) -> Budget:
        return self._budget if token_budget is None else Budget.of(token_budget)

    def _run(self, flow: Flow[View]) -> View:
        return run(flow, self.cursor.engine.asker, self.cursor.tally)

    def _written(self, view: View) -> list[M]:
        return self._objects.write([item.wire for item in view.current()])

    def _decide(
        self,
        budget: Budget,
        *,
        cold: bool | None = None,
        limit: Limit | None = None,
        may_fold: bool = True,
    ) -> bool:
        """Bring what is new into view; return whether to fold it: two sums and one comparison."""
        cursor, is_late = self.cursor, cold
        if is_late is None:
            seconds = self.account.rates.seconds
            is_late = self.sent_at is None or self._clock() - self.sent_at > seconds
        is_cold = is_late or not (self.sent.count or cursor.sent_verbatim)
        is_new = cursor.now.covered < len(cursor.messages) or is_cold or self.has_new_pins
        now, most = self._arrive(limit), self._most(budget)
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
                limit=budget.step(self.options.model, now.landed, self._prices),
                cached=0 if is_cold else self.whole_sent,
                is_cold=is_cold,
            )
        self._due = _Due(budget, reason, is_late)
        return reason is not None

    def _arrive(self, limit: Limit | None = None) -> View:
        """Bring what is new into view, and what was pinned since."""
        self._recount()
        now = self.cursor.arrive(limit)
        if self.has_new_pins:
            self.cursor.show_pinned()
            now = self.cursor.arrive()
        return now

    def _recount(self) -> None:
        """Count everything again if the counter has learned."""
        factor = factor_of(self.options.counter)
        if abs(factor / self._factor - 1) > _DRIFT:
            self.cursor.recount()
            self._factor = factor

    def _most(self, budget: Budget) -> int | None:
        """Return how much of a budget in tokens may be filled."""
        if budget.tokens is None or budget.is_exact:
            return budget.tokens
        return self.cursor.engine.aim(budget.tokens, self.cursor.cache.tokens)

    def _fold_due(self) -> Flow[View]:
        """Return what to send after the fold that is due."""
        due, is_full = self._due, self._due.reason == "full"
        attempt = (self.cursor.now.covered, due.budget.tokens)
        now = yield from self._fold(due.budget, is_forced=is_full)
        self.tried = attempt if is_full else self.tried
        return self._send(now, is_cold=due.is_cold)

    def _fold_now(self, budget: Budget) -> Flow[View]:
        """Return what to send after a fold that nobody asked the price of."""
        self._arrive()
        now = yield from self._fold(budget, is_forced=True)
        return self._send(now, is_cold=False)

    def _fold(self, budget: Budget, *, is_forced: bool) -> Flow[View]:
        """Return the view after a fold of everything; the one of now, if that saves too little."""
        cursor, now, most = self.cursor, self.cursor.now, self._most(budget)
        target = None
        if not budget.is_open:
            unread = 0 if most is None else cursor.unread
            target = budget.landing(cursor.whole, cursor.fixed, most, now.tokens, unread)
        folded = yield from cursor.refold(budget.tokens or target, target, self._strategy)
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

    def _send(self, now: View, *, is_cold: bool) -> View:
        """Note that *now* is sent after the last view: both bills, and the report."""
        cursor, account, before = self.cursor, self.account, self.sent
        same, tokens = now.shared_with(before)
        if self.sent_at is None or now is not before or is_cold:
            account.note_sent(
                view=now.tokens,
                view_cached=0 if is_cold else tokens,
                whole=cursor.whole,
                whole_cached=0 if is_cold else self.whole_sent,
            )
        self.whole_sent, self.sent, self.sent_at = cursor.whole, now, self._clock()
        self.has_new_pins = cursor.is_doubted = False
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
        return now

    # --- elsewhere ------------------------------------------------------------------------------

    def save(self, store: Store) -> str:
        """Write everything to *store* and return the key for `resume`."""
        models = [name for name in _PASSED_AGAIN if self._helpers.get(name) is not None]
        facts = {"budget": [self._budget.tokens, self._budget.way], "models": models}
        return write_state(scoped(store, self.conversation), self, facts)

    def trace(self, first: int = 0) -> dict[str, Any]:
        """Return what `retrace` needs beside the messages to continue like this one, as plain data.

        The view is in it from its message *first* on. Call it after `view`.
        """
        return spell_trace(self, first)

    def retrace(self, messages: Iterable[M], trace: Mapping[str, Any]) -> None:
        """Go on, in a new session, where another one with the same *messages* was.

        *trace* is that of its whole view. `StoreError` if it is not.
        """
        self.extend(messages)
        self._report = follow_trace(self, trace)

    @classmethod
    def resume(
        cls,
        key: str,
        store: Store,
        *,
        prices: PriceList | None = None,
        clock: Callable[[], float] = time.time,
        **choices: Unpack[Choices],
    ) -> Self:
        """Continue a saved session, byte for byte as if it had never stopped."""
        helpers, others = split_helpers(choices)
        has_budget = "token_budget" in others
        budget = others.pop("token_budget", None)
        with reading(key):
            state = read_state(scoped(store, helpers.get("conversation")), key)
            was, models = state["facts"]["budget"], state["facts"]["models"]
            saved = read_options(state["options"], others)
            check_passed(models, helpers)
            session = cls(saved, store=store, prices=prices, clock=clock, **helpers)
            session.extend(session._objects.revive(state["messages"]))
            session._report = restore(session, state, keeps_rates=not prices)
            session._budget = Budget.of(budget) if has_budget else Budget(*was)
        return session
