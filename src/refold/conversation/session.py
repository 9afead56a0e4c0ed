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
from typing import Any, Final, Generic, Self, Unpack

from refold.checks import check_whole
from refold.choices import Choices, combine, spelled_out, split_helpers
from refold.conversation.cursor import Cursor, Limit, View
from refold.conversation.economics import Budget, Reason
from refold.conversation.models import PriceList
from refold.conversation.report import SessionReport
from refold.conversation.saved import (
    check_passed,
    follow_trace,
    read_state,
    reading,
    spell_trace,
    write_state,
)
from refold.conversation.sending import Sending
from refold.engine import Engine
from refold.errors import MessageError, StoreError
from refold.llm.ask import Flow, arun, run
from refold.messages.blocks import answered_by
from refold.messages.formats.objects import Objects
from refold.messages.wire import clone
from refold.options import Options, Pin
from refold.result import M
from refold.stores.base import Store
from refold.stores.scope import scoped

_PASSED_AGAIN: Final = ("summarizer", "detectors", "codecs", "rules")
"""What is not saved with a session and must be passed again to `resume`."""


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
        self._models = [name for name in _PASSED_AGAIN if self._helpers.get(name) is not None]
        budget = fields.get("token_budget")
        if isinstance(budget, str):
            del fields["token_budget"]
        combined = combine(options, fields)
        if combined.token_share is not None:
            budget = f"{100 * combined.token_share:g}%"
            combined = replace(combined, token_share=None)
        self._budget = Budget.of(budget if isinstance(budget, str) else combined.token_budget)
        if combined.profile == "classic":
            # Later copies refer to the first one, so that what was shown need not change.
            combined = replace(combined, keep_duplicate="first")
        engine = Engine(combined, store=store, **self._helpers)
        self._sending = Sending(engine, prices, clock)
        self._objects = Objects()
        self._awaited: set[str] = set()
        """Calls whose results are to come."""

    def __repr__(self) -> str:
        now = self._cursor.now
        return (
            f"{type(self).__name__}(messages={len(self)}, tokens={now.tokens}, folds={now.folds})"
        )

    def __len__(self) -> int:
        """Return how many messages the conversation has."""
        return len(self._cursor.messages)

    @property
    def _cursor(self) -> Cursor:
        return self._sending.cursor  # another one after `take`

    @property
    def options(self) -> Options:
        """The options of this session."""
        return self._cursor.options

    @property
    def conversation(self) -> str | None:
        """Its name, if it has one."""
        return self._cursor.engine.conversation

    @property
    def verbatim(self) -> dict[str, Any]:
        """Originals of everything folded so far; the store has them, too."""
        return self._cursor.verbatim

    @property
    def report(self) -> SessionReport:
        """Figures of the last view."""
        return self._sending.report

    def append(self, message: M) -> None:
        """Add one message, a mapping or an object; the session copies a mapping."""
        place = len(self)
        self._cursor.append(self._objects.read_one(message, place))
        self._await(place)

    def extend(self, messages: Iterable[M]) -> None:
        """Add messages in order."""
        for message in messages:
            self.append(message)

    def _await(self, place: int) -> None:
        """Note which calls wait for results after the message at *place*."""
        message = self._cursor.messages[place]
        is_after_results = place > 0 and self._cursor.messages[place - 1].is_tool_result
        if is_after_results and not message.is_tool_result:
            self._awaited = set()  # the talk went on
        if message.calls:
            self._awaited.update(call.id for call in message.calls)
        if self._awaited:
            self._awaited -= answered_by(message)

    def _waits(self) -> bool:
        """Tell whether more results are to come: no provider takes a part of them."""
        return bool(self._awaited) and self._cursor.messages[-1].is_tool_result

    def pop(self) -> M:
        """Remove the last message and return it."""
        if not len(self):
            raise MessageError("there is none to take back", "messages")
        last: list[M] = self._objects.write([clone(dict(self._cursor.messages[-1].wire))])
        self.truncate(len(self) - 1)
        return last[0]

    def truncate(self, length: int) -> None:
        """Keep the first *length* messages, as if the later ones had never been appended."""
        check_whole("length", length)
        if length < len(self):
            self._sending.cut(length)
            self._awaited = set()
            for place in range(length):
                self._await(place)

    def fork(self) -> Self:
        """Return an independent session with the same state, which writes to the same store."""
        other = copy.copy(self)
        other._sending, other._objects = self._sending.fork(), self._objects.copy()
        other._awaited = self._awaited.copy()
        return other

    def pin(self, *pins: Pin) -> None:
        """Keep messages unchanged from now on: by id, as `role:NAME`, or by a function.

        Messages that were folded before come back into the next view, which changes from there on.
        """
        options = replace(self.options, pins=(*self.options.pins, *pins))
        self._cursor.engine = Engine(options, store=self._store, **self._helpers)
        self._sending.has_new_pins = True

    @property
    def messages(self) -> list[M]:
        """A copy of the whole conversation, unfolded."""
        return self._objects.write([clone(dict(m.wire)) for m in self._cursor.messages])

    def note_sent(self) -> None:
        """Treat what was appended since the last view as sent, word for word.

        Call it where there was no view to send, for example because a store failed, and the
        messages were sent without folding.
        """
        sending, cursor = self._sending, self._cursor
        cursor.sent_verbatim = len(self)
        with suppress(StoreError):  # then it is written with the next view
            sending.sent = cursor.arrive()
        sending.sent_at, sending.whole_sent = sending.clock(), cursor.whole

    def doubt_thinking(self) -> None:
        """Leave all thinking so far out of the next view, if there was no view before.

        Call it where these messages may have been sent in another form than the one given. What a
        model thought then is bound to that form, and its provider rejects it after any other.
        """
        self._cursor.is_doubted = True

    @property
    def wires(self) -> list[dict[str, Any]]:
        """The messages of the last view as plain data, which `retrieve_tool` needs."""
        return [item.wire for item in self._sending.sent.current()]

    @property
    def unchanged(self) -> list[int | None]:
        """For each message of the last view, the index of the one that it shows word for word."""
        return [item.first if item.is_verbatim else None for item in self._sending.sent.current()]

    @property
    def places(self) -> list[range]:
        """For each message of the last view, the indices of the messages it stands for."""
        return [item.span for item in self._sending.sent.current()]

    @property
    def folded_length(self) -> int:
        """How many messages the last fold has seen: `truncate` to fewer begins anew."""
        return self._cursor.now.seen

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
        sending = self._sending
        limit = result_tokens if callable(result_tokens) else lambda _: result_tokens
        return sending.is_due(
            self._budget_of(token_budget),
            cold=cold,
            limit=None if result_tokens is None else limit,
            may_fold=not (sending.sent.count and self._waits()),
        )

    def fold(self) -> list[M]:
        """Fold because it `is_due`, and return what to send."""
        return self._written(self._run(self._sending.fold_due()))

    def stay(self) -> list[M]:
        """Return what to send without a fold."""
        return self._written(self._sending.stay())

    def take(self, fork: Self) -> None:
        """Go on from what a *fork* of this session has folded; the fork is not used any more.

        What was appended meanwhile has been sent since, and stays as it was given.
        """
        self._sending.take(fork._sending)

    @property
    def due(self) -> Reason | None:
        """Why a fold was due when it was last asked."""
        return self._sending.due.reason

    @property
    def idle_seconds(self) -> float | None:
        """How long ago the last view was; `None` if there was none."""
        sending = self._sending
        return None if sending.sent_at is None else sending.clock() - sending.sent_at

    async def aview(
        self, token_budget: int | str | None = None, *, cold: bool | None = None
    ) -> list[M]:
        """Return the same as `view` without blocking the event loop."""
        if not self.is_due(token_budget, cold=cold):
            return self.stay()
        asker, tally = self._cursor.engine.asker, self._cursor.tally
        return self._written(await arun(self._sending.fold_due(), asker, tally))

    def refold(self, token_budget: int | str | None = None) -> list[M]:
        """Fold everything now, and return what to send."""
        return self._written(self._run(self._sending.refold(self._budget_of(token_budget))))

    def _budget_of(self, token_budget: int | str | None) -> Budget:
        return self._budget if token_budget is None else Budget.of(token_budget)

    def _run(self, flow: Flow[View]) -> View:
        return run(flow, self._cursor.engine.asker, self._cursor.tally)

    def _written(self, view: View) -> list[M]:
        return self._objects.write([item.wire for item in view.current()])

    def save(self, store: Store) -> str:
        """Write everything to *store* and return the key for `resume`."""
        facts = {"budget": [self._budget.tokens, self._budget.way], "models": self._models}
        return write_state(scoped(store, self.conversation), self._sending, facts)

    def trace(self, first: int = 0) -> dict[str, Any]:
        """Return, as plain data, what `retrace` needs beside the messages to go on like this one.

        The view is in it from its message *first* on. Call it after `view`.
        """
        return spell_trace(self._sending, first)

    def retrace(self, messages: Iterable[M], trace: Mapping[str, Any]) -> None:
        """Go on, in a new session, where another one with the same *messages* was.

        *trace* is that of its whole view. `StoreError` if it is not.
        """
        self.extend(messages)
        follow_trace(self._sending, trace)

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
            saved = read_state(scoped(store, helpers.get("conversation")), key, others)
            check_passed(saved.facts["models"], helpers)
            session = cls(saved.options, store=store, prices=prices, clock=clock, **helpers)
            session.extend(session._objects.revive(saved.messages))
            saved.restore(session._sending, keeps_rates=not prices)
            was = saved.facts["budget"]
            session._budget = Budget.of(budget) if has_budget else Budget(*was)
        return session
