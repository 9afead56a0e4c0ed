"""A growing conversation whose folded beginning stays byte for byte the same between folds.

Providers cache the beginning of a prompt only while it does not change. So a session leaves what it
has shown alone, lets new messages pile up as they are, and folds only when a trigger fires: once,
with room to spare, and as late in the list as will do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any, Final, Self

from refold.agent.marks import Marks
from refold.agent.saved import HOOKS, check_given, read_state, write_state
from refold.agent.session_report import SessionReport
from refold.asking import Tally
from refold.budget.guard import find_untouchable
from refold.engine import Engine, combine
from refold.errors import BudgetError
from refold.formats import Loader
from refold.model.message import Message
from refold.model.plan import Fold, kept_fold
from refold.model.wire import clone
from refold.options import Options
from refold.result import BudgetReport
from refold.stages import Analyses, Setting
from refold.stores.base import Store
from refold.stores.memory import MemoryStore
from refold.tokens.choose import factor_of

_MIN_TAIL_TOKENS = 1_000
_FACTOR_SLACK: Final = 0.01
"""By what share a counter may learn to count otherwise before everything is counted anew."""
_MODELS: Final = ("summarizer", "classifier")
_HELPERS: Final = (*_MODELS, "on_event", "pass_seconds")


def _take_helpers(choices: dict[str, Any]) -> dict[str, Any]:
    """Take out of *choices* what is no option but helps with asking models."""
    return {name: choices.pop(name) for name in _HELPERS if name in choices}


def _revive(
    class_: type[Session],
    key: str,
    saved: Store,
    given: Mapping[str, Any],
    own: tuple[dict[str, Any], Store | None],
) -> Session:
    """Take up a session that was pickled or copied; nothing is written to its *own* store."""
    session = class_.resume(key, saved, **given)
    session.verbatim, store = own
    session._store = store
    session._engine = Engine(session.options, store=store, **session._helpers)
    return session


def _stable(options: Options) -> Options:
    """Let later copies refer to the first: what was shown must not change for a later copy.

    The other profiles never refer to what comes later.
    """
    if options.profile != "balanced":
        return options
    return replace(options, keep_duplicate="first")


def _hidden_by(folds: Iterable[Fold]) -> frozenset[int]:
    """Return the indices of the messages that *folds* do not show as they were."""
    return frozenset(
        message.index for fold in folds if not fold.is_kept for message in fold.sources
    )


class Session:
    """A conversation that grows: `append` what happens, send what `view` returns.

    The messages of a view belong to the session: read them, send them, but do not change them.
    """

    def __init__(
        self,
        options: Options | None = None,
        *,
        store: Store | None = None,
        marks: Marks | None = None,
        **choices: Any,
    ) -> None:
        """Take what `Compressor` takes; a summarizer is asked when the session folds."""
        self._store = store
        self._helpers = helpers = _take_helpers(choices)
        self._models = [name for name in _MODELS if helpers.get(name) is not None]
        self._engine = Engine(_stable(combine(options, choices)), store=store, **helpers)
        self.options = self._engine.options
        self.marks = marks or Marks()
        self.verbatim: dict[str, Any] = {}
        """Originals of everything folded so far; the store has them too, if there is one."""
        self.report = SessionReport()
        self._loader = Loader(self.options.format, strict_roles=self.options.strict_roles)
        self._analyses: Analyses = self._engine.new_analyses()
        self._tally = Tally()
        self._factor = factor_of(self.options.counter)
        """What the counter multiplied with when everything was last counted."""
        self._messages: list[Message] = []
        self._plan: list[Fold] = []
        self._shown: list[dict[str, Any]] = []
        self._settled = 0
        """How many messages the last fold has dealt with for good; those after it were recent."""
        self._is_guarded = False
        """Whether every fold so far was made under a budget, which leaves some messages alone."""
        self._tokens = 0
        self._tail_tokens = 0
        self._unfolded_tokens = 0
        self._sent = 0

    def __repr__(self) -> str:
        said = f"messages={len(self._messages)}, tokens={self._tokens}, folds={self.report.folds}"
        return f"{type(self).__name__}({said})"

    def append(self, message: Mapping[str, Any]) -> None:
        """Add one message; the session keeps its own copy."""
        index = len(self._messages)
        loaded = self._loader.load(message, index)
        own = loaded.changed(wire=clone(dict(message)))
        loaded = self._engine.recognize((own,))[0]
        cost = self._analyses.tokens.message(loaded)
        self._messages.append(loaded)
        self._plan.append(kept_fold(loaded, "not_folded_yet"))
        self._shown.append(clone(loaded.wire))
        self._tokens += cost
        self._tail_tokens += cost
        self._unfolded_tokens += cost

    def extend(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Add messages in order."""
        for message in messages:
            self.append(message)

    @property
    def messages(self) -> list[Any]:
        """The whole conversation as it was given, copied."""
        return [clone(message.wire) for message in self._messages]

    def view(self, token_budget: int | None = None) -> list[Any]:
        """Return what to send now; folds first if a trigger fires."""
        if token_budget is not None:
            replace(self.options, token_budget=token_budget)  # refuses what is no budget
        budget = self.options.token_budget if token_budget is None else token_budget
        self._recount()
        plan, kept_to = self._next_plan(budget)
        first_changed = self._sent
        if plan is not None:
            first_changed = min(self._sent, self._adopt(plan))
        self.report = replace(
            self.report,
            messages=len(self._shown),
            tokens=self._tokens,
            tokens_unfolded=self._unfolded_tokens,
            first_changed=first_changed,
            cached_share=self._share_before(first_changed),
            counter_failures=self._analyses.tokens.failures,
            budget=kept_to or self.report.budget,
            model=self._tally.report() if self._engine.asker.is_there else None,
        )
        self._sent = len(self._shown)
        return list(self._shown)

    async def aview(self, token_budget: int | None = None) -> list[Any]:
        """Return the same as `view` without blocking the event loop."""
        return await asyncio.to_thread(self.view, token_budget)

    def _recount(self) -> None:
        """Count everything anew once the counter has learned that it was off by more than a bit."""
        growth = factor_of(self.options.counter) / self._factor
        if abs(growth - 1) <= _FACTOR_SLACK:
            return
        self._factor *= growth
        self._tail_tokens = round(self._tail_tokens * growth)
        tokens = self._analyses.tokens
        tokens.forget()
        self._tokens = self._price(self._plan)
        self._unfolded_tokens = sum(map(tokens.message, self._messages))

    def _next_plan(self, budget: int | None) -> tuple[list[Fold] | None, BudgetReport | None]:
        """Decide whether to fold now, and how."""
        if not self.report.messages:
            return self._fold_all(budget)
        if budget is None:
            self._is_guarded = False
            grown = self._tail_tokens >= max(_MIN_TAIL_TOKENS, self.marks.growth * self._tokens)
            return (self._fold_tail({}) if grown else None), None
        aim = self._engine.aim(budget, self._analyses.tokens)
        if not self._is_guarded:
            self._is_guarded = True
            # Without a budget, what no budget may touch may have been folded.
            if _hidden_by(self._plan) & find_untouchable(self._messages, self.options).keys():
                return self._fold_all(budget)
        if self._tokens <= self.marks.trigger * aim:
            return None, None
        plan = self._fold_tail(find_untouchable(self._messages, self.options))
        cost = self._price(plan)
        if cost <= self.marks.landing * aim:
            return plan, None
        if self._tokens <= aim and self._tokens - cost < self.marks.min_gain * aim:
            return None, None
        return self._fold_all(budget, target=int(self.marks.landing * aim))

    def _fold_all(
        self, budget: int | None, target: int | None = None
    ) -> tuple[list[Fold], BudgetReport | None]:
        """Fold the whole conversation anew, from the originals."""
        self._is_guarded = budget is not None
        options = replace(self.options, token_budget=budget)
        plan, report = self._engine.settle(
            lambda: self._engine.plan(self._messages, self._analyses, options, target),
            self._analyses,
            self._tally,
        )
        if options.strict and report is not None and not report.fits:
            raise BudgetError(report.explain())
        return list(plan), report

    def _fold_tail(self, pinned: Mapping[int, str]) -> list[Fold]:
        """Leave what is settled as it is, and fold what came after it, except for *pinned*."""
        settled = self._settled_folds()
        hidden = _hidden_by(self._plan[:settled])
        rest = self._engine.settle(
            lambda: self._engine.plan_rest(
                self._messages,
                self._analyses,
                start=self._settled,
                hidden=hidden,
                pinned=pinned,
            ),
            self._analyses,
            self._tally,
        )
        return [*self._plan[:settled], *rest]

    def _settled_folds(self) -> int:
        """Count the folds at the beginning that cover nothing but settled messages."""
        count = 0
        while count < len(self._plan) and self._plan[count].sources[-1].index < self._settled:
            count += 1
        return count

    def _price(self, plan: Iterable[Fold]) -> int:
        return sum(map(self._analyses.tokens.fold, plan))

    def _adopt(self, plan: list[Fold]) -> int:
        """Show *plan* from now on; return the index of the first message that changes."""
        first = 0
        for old, new in zip(self._plan, plan, strict=False):
            if not old.shows_same(new):
                break
            first += 1
        rendering = self._engine.render(plan[first:])
        self._engine.save(rendering)
        self.verbatim.update(rendering.verbatim)
        self._plan = plan
        self._shown[first:] = rendering.messages
        self._tokens = self._price(plan)
        self._tail_tokens = 0
        self._settled = self._settle_at(plan)
        if first < len(plan):
            self.report = replace(self.report, folds=self.report.folds + 1)
        return first

    def _settle_at(self, plan: list[Fold]) -> int:
        """Return where the recent messages begin, behind any fold that reaches into them."""
        border = Setting.of(
            self._messages, self.options, self._analyses, self.options.recency_window
        ).recent_from
        for fold in plan:
            if fold.sources[0].index < border <= fold.sources[-1].index:
                return fold.sources[-1].index + 1
        return border

    def _share_before(self, index: int) -> float:
        """Return the share of the view's tokens that stands before *index*."""
        after = self._price(self._plan[index:])
        return (self._tokens - after) / self._tokens if self._tokens else 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy what `save` would write, with the functions and models that it has."""
        saved = MemoryStore()
        key = self.save(saved)
        hooks = {name: getattr(self.options, name) for name in HOOKS}
        given = {name: hook for name, hook in hooks.items() if hook is not None} | self._helpers
        own = dict(self.verbatim), self._store
        return _revive, (type(self), key, saved, given, own)

    def save(self, store: Store) -> str:
        """Write everything to *store* and return the key with which to `resume`."""
        return write_state(
            store,
            options=self.options,
            messages=self._messages,
            plan=self._plan,
            facts={
                "marks": asdict(self.marks),
                "settled": self._settled,
                "tail_tokens": self._tail_tokens,
                "sent": self._sent,
                "is_guarded": self._is_guarded,
                "models": self._models,
                "report": self.report.to_dict(),
            },
        )

    @classmethod
    def resume(cls, key: str, store: Store, *, marks: Marks | None = None, **choices: Any) -> Self:
        """Take up a saved session; it goes on byte for byte as if it had never stopped.

        Functions and models cannot be saved: a counter, scorer, summarizer or classifier that was
        given must be given again. Other choices replace those that were saved.
        """
        helpers = _take_helpers(choices)
        state = read_state(store, key, choices)
        facts = state.facts
        check_given(facts.get("models", ()), helpers)
        session = cls(state.options, store=store, marks=marks or Marks(**facts["marks"]), **helpers)
        session.extend(state.messages)
        session._adopt(state.plan(session._messages))
        session.report = SessionReport.from_dict(facts["report"])
        session._tally = Tally.of(session.report.model)
        session._settled = facts["settled"]
        session._tail_tokens = facts["tail_tokens"]
        session._sent = facts["sent"]
        session._is_guarded = facts["is_guarded"]
        return session
