"""One conversation after the other into so many tokens: look back, plan, write out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from refold.engine import Engine, Job
from refold.errors import BudgetError
from refold.lazy import Lazy
from refold.messages.message import Message
from refold.messages.restore import MappingLookup
from refold.messages.wire import clone
from refold.options import Pin
from refold.plan.blocks import pair_warnings
from refold.plan.flow import Flow, ask_until_known
from refold.plan.fold import Fold, Plan, kept_fold
from refold.plan.render import Rendering, render
from refold.plan.untouchable import find_pinned
from refold.scan.tokens.choose import factor_of
from refold.window.history import MOST_ANEW, History, new_tail, numbered, read_history, total_of
from refold.window.outcome import (
    REUSED,
    explain,
    extended,
    find_obstacles,
    first_difference,
    gone_on,
    ids_of,
    unchanged,
)
from refold.window.passes import Pass, Passes
from refold.window.reading import Wires, unroll
from refold.window.result import FitResult
from refold.window.rungs import keep_original
from refold.window.settings import WindowThresholds
from refold.window.strategies import STRATEGIES, Strategy
from refold.window.task import Fitting, Task, ends_in_summary

_RETRY_SHARE: Final = 0.05
"""Share of the window that must be new before it is worth trying again to save something."""
_TIGHTER: Final = 0.8
"""A provider that only says "too long" gets a fifth less at each try: smaller steps take more
refused requests, larger ones give away what would have fitted."""
_MAX_MADE: Final = 100
"""How many passes over one conversation are remembered by their turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One list on its way to fitting."""

    history: History
    job: Job
    firsts: Sequence[int]
    """Where in the list stands what each message of the job stands for, or begins to."""
    task: Task
    current: FitResult | None
    """What can be sent without a new pass, if anything can."""
    is_due: bool
    """Whether a pass is to be made."""

    @property
    def settled(self) -> FitResult | None:
        """What to send if no pass is due."""
        return None if self.is_due else self.current


@dataclass(slots=True, kw_only=True)
class Fitter:
    """Makes passes over conversations and remembers the last ones."""

    engine: Engine
    strategy: Strategy
    thresholds: WindowThresholds
    pins: tuple[Pin, ...]
    max_messages: int
    keep_results: int | None
    is_handover: bool
    strict: bool
    passes: Passes = field(default_factory=Passes)

    def begin(self, messages: Wires, available: int, *, soft: bool = False) -> Attempt:
        """Read a list; find out what can be sent as it is, and whether that is good enough."""
        history = read_history(messages, self.passes.find(messages), self.engine)
        if history.total <= available and not history.is_anew:  # there is more room than there was
            history = read_history(messages, None, self.engine)
        current, is_due = self._look_back(history, available, soft=soft)
        job, firsts, total = history.job, history.firsts, history.total
        if is_due and history.is_anew and self.strategy in ("fold", "summarize"):
            own = MappingLookup(self.passes.original)
            lookup = self.engine.lookup or own
            unrolled = unroll(job.messages, lookup, own, self.engine.trust, MOST_ANEW)
            if unrolled is not None:
                links = [link for (_, link), _ in unrolled]
                job = self.engine.begin([wire for (wire, _), _ in unrolled], links=links)
                firsts = [place for _, place in unrolled]
        task = Task(
            messages=job.messages,
            engine=self.engine,
            text_cache=job.text_cache,
            available=available,
            anchor_room=Lazy(lambda: self.engine.anchor_room(job.messages)),
            target=self.thresholds.target(current.tokens_after if current else total, available),
            pinned=find_pinned(job.messages, self.pins),
            max_messages=self.max_messages,
            keep_results=self.keep_results,
            is_handover=self.is_handover,
        )
        return Attempt(
            history=history, job=job, firsts=firsts, task=task, current=current, is_due=is_due
        )

    def _look_back(
        self, history: History, available: int, *, soft: bool
    ) -> tuple[FitResult | None, bool]:
        """Return what can be sent without a new pass, and whether a pass is due all the same."""
        total, earlier = history.total, history.earlier
        limit = available * (self.thresholds.prepare_at if soft else self.thresholds.high_water)
        own = self.passes.made(history.wires)
        if total <= limit or (own and own.result.tokens_available == available):
            return unchanged(history, available, own), False
        if earlier is not None:
            tail = history.tail
            tail_tokens = sum(map(history.job.text_cache.tokens.message, tail))
            after = self._tokens_now(earlier) + tail_tokens
            view = extended(earlier.result, tail, total=total, after=after, available=available)
            carried = {**history.short, **self._carry(earlier.result, tail)}
            if carried:
                view = replace(view, verbatim={**view.verbatim, **carried})
            if view.fits:
                enough = max(self.thresholds.clear_at_least, _RETRY_SHARE * available)
                is_calm = (
                    not tail
                    or (earlier.is_stuck and tail_tokens < enough)
                    or self.thresholds.is_spent(earlier.made_at, history.turn)
                )
                return view, view.tokens_after > limit and not is_calm
        return (unchanged(history, available) if total <= available else None), True

    def _carry(self, head: FitResult, tail: Sequence[Message]) -> dict[str, Any]:
        """Let stand-ins in *tail* be found behind those of *head*; return how."""
        kept = [kept_fold(message, "carried") for message in tail if message.link]
        if not kept:
            return {}
        chain = self.engine.new_chain()
        for message in head.messages:
            chain.key_of(message)
        conversation = self.engine.conversation
        rendering = render(kept, version=0, chain=chain, conversation=conversation)
        self.engine.save(rendering)
        return rendering.verbatim

    def _tokens_now(self, earlier: Pass) -> int:
        """Return what the outcome of a pass costs, counted anew if the counter has learned."""
        if earlier.factor == self._factor:
            return earlier.result.tokens_after
        return total_of(self.engine.begin(earlier.result.messages))

    @property
    def _factor(self) -> float:
        return factor_of(self.engine.options.counter)

    def flow(self, attempt: Attempt) -> Flow[Fitting]:
        """Make the plan; stops where it wants to ask something."""
        make = STRATEGIES[self.strategy]
        return ask_until_known(lambda: make(attempt.task), attempt.task.text_cache)

    def tighter(self, attempt: Attempt) -> Attempt:
        """Return the attempt with less room, for when all that is known is that it was too much."""
        smaller = max(1, int(_TIGHTER * min(attempt.history.total, attempt.task.available)))
        task = replace(attempt.task, available=smaller, target=smaller)
        return replace(attempt, task=task, current=None, is_due=True)

    def finish(self, attempt: Attempt, fitting: Fitting) -> FitResult:
        """Write the fitting out if it is worth it; nothing has been written before this."""
        task, current, history = attempt.task, attempt.current, attempt.history
        plan = self.engine.seal(fitting.plan)
        plan = self.engine.unbind(plan, rewritten=fitting.rewritten)
        after = sum(map(task.text_cache.tokens.fold, plan))
        if current is not None:
            gain = current.tokens_after - after
            if gain < max(1, self.thresholds.clear_at_least):
                self._remember_stuck(attempt, current)
                return current
        warnings = pair_warnings(task.messages)
        if ends_in_summary(task, fitting):
            warnings = (*warnings, "it ends with a summary: there was no room for the last results")
        obstacles = () if after <= task.available else find_obstacles(task, attempt.firsts)
        if after > task.available:
            problem = explain(after, task.available, obstacles)
            if self.strict:
                raise BudgetError(problem)
            warnings = (*warnings, problem)
        attempt.job.tally.settle(task.text_cache.written_in(fitting.plan))
        plan, rendering = self._write(plan, fitting)
        result = FitResult(
            messages=rendering.messages,
            fits=after <= task.available,
            tokens_before=history.total,
            tokens_after=after,
            tokens_available=task.available,
            dropped_ids=tuple(message.id for message in fitting.dropped),
            summarized_ids=ids_of(f for f in plan if len(f.sources) > 1),
            compressed_ids=ids_of(f for f in plan if _is_shorter(f, fitting)),
            steps=fitting.steps,
            first_changed=first_difference(history.sent(), rendering.messages),
            thinking="stripped" if any(fold.is_stripped for fold in plan) else "kept",
            warnings=warnings,
            obstacles=obstacles,
            verbatim={**history.short, **rendering.verbatim},
            model=attempt.job.tally.report() if self.engine.asker.is_enabled else None,
        )
        if not history.is_anew and history.earlier is not None:
            result = gone_on(history.earlier.result, result, plan)
        shown = [
            self._read_back(fold, wire, link, attempt, fitting)
            for fold, wire, link in zip(plan, rendering.messages, rendering.links, strict=True)
        ]
        firsts = [attempt.firsts[fold.sources[0].index] for fold in plan]
        self._remember(history, result, shown, firsts, made_at=history.turn)
        return result

    def _read_back(
        self, fold: Fold, wire: dict[str, Any], link: str, attempt: Attempt, fitting: Fitting
    ) -> Message:
        """Return what a later pass starts from: a message itself, or what several have become."""
        first = fold.sources[0]
        if len(fold.sources) == 1:
            return fitting.rewritten.get(first.index, first)
        return self.engine.read_back(fold, wire, attempt.firsts[first.index], link)

    def _write(self, plan: Plan, fitting: Fitting) -> tuple[Plan, Rendering]:
        """Write everything out that *fitting* needs to be sent, and to be undone."""

        def add(rendering: Rendering, sealed: Plan) -> None:
            for message in fitting.dropped:
                rendering.keep(message)
            for fold, link in zip(sealed, rendering.links, strict=True):
                for shown in fold.sources:
                    original = fitting.rewritten.get(shown.index)
                    if original is not None:
                        keep_original(original, shown, rendering, link if fold.is_kept else "")

        return self.engine.write(plan, add=add)

    def _remember_stuck(self, attempt: Attempt, current: FitResult) -> None:
        """Remember that no pass was worth it, so that what can be sent is *current*."""
        history, earlier = attempt.history, attempt.history.earlier
        if earlier is None or REUSED not in current.steps:
            self._remember(history, current, history.job.messages, history.firsts)
            return
        shown = (*earlier.shown, *history.tail)
        firsts = (*earlier.firsts, *range(len(earlier.given), len(history.wires)))
        self._remember(history, current, shown, firsts)

    def _remember(
        self,
        history: History,
        result: FitResult,
        shown: Sequence[Message],
        firsts: Sequence[int],
        *,
        made_at: int | None = None,
    ) -> None:
        """Remember a pass that was made at this turn; without one, that it was not worth it."""
        own = replace(result, messages=[clone(m) for m in result.messages])
        before = () if history.earlier is None else history.earlier.made_at[-_MAX_MADE:]
        done = Pass(
            given=history.given,
            ids=history.ids,
            shown=numbered(shown),
            firsts=tuple(firsts),
            total=history.total,
            turn=history.turn,
            chains=history.chains,
            result=own,
            is_stuck=made_at is None,
            factor=self._factor,
            made_at=before if made_at is None else (*before, made_at),
        )
        if history.read is not None and not self.engine.asker.is_enabled:
            # Without a model, all that is known of a text stays true.
            text_cache = history.read.text_cache
            text_cache.keep_only(frozenset(text for m in done.shown for text in m.texts()))
            done.tails.append(new_tail(done, text_cache, history.read.factor, self.engine))
        self.passes.remember(done, history.earlier)


def _is_shorter(fold: Fold, fitting: Fitting) -> bool:
    """Tell whether *fold* is one message that is not as it was."""
    is_rewritten = fold.sources[0].index in fitting.rewritten
    return len(fold.sources) == 1 and (is_rewritten or not fold.is_kept)
