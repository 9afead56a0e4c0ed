"""Fit conversations into a window: reuse an earlier pass, or plan a new one and write it out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from refold.conversation.history import History, Pass, Passes, find_history, unroll_items
from refold.conversation.limits import WindowThresholds
from refold.conversation.report import FitResult
from refold.conversation.state import Wires
from refold.conversation.strategies import STRATEGIES, Fitting, Strategy, Task, ends_in_summary
from refold.conversation.view import Item, View
from refold.engine import Engine, ask_until_known
from refold.errors import BudgetError
from refold.lazy import Lazy
from refold.llm.ask import Flow, Tally
from refold.messages.blocks import pair_warnings
from refold.messages.folds import Fold, Plan
from refold.messages.handles import behind_of
from refold.messages.manifest import MappingSource
from refold.messages.said import read_said
from refold.messages.untouchable import find_last_words, find_pinned, is_shared
from refold.messages.wire import clone
from refold.options import Pin
from refold.plan.render import Rendering, render
from refold.result import Obstacle

REUSED: Final = "reuse"
"""The step that says that an earlier result was used again."""
_MAX_OBSTACLES: Final = 10
"""So many of the largest obstacles are named: mostly there are one or two."""
_RETRY_SHARE: Final = 0.05
"""Share of the window that must be new before it is worth trying again to save something."""
_TIGHTER: Final = 0.8
"""A provider that only says "too long" gets a fifth less at each try: smaller steps take more
refused requests, larger ones give away what would have fitted."""
_MAX_MADE: Final = 100
"""How many passes over one conversation are remembered by their turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One list that is being fitted."""

    history: History
    items: Sequence[Item]
    """What a pass starts from."""
    task: Task
    reused: View | None
    """What the earlier pass has left, with what came since."""
    current: FitResult | None
    """What can be sent without a new pass, if anything."""
    is_due: bool
    """Whether a pass is to be made."""


@dataclass(slots=True, kw_only=True)
class Fitter:
    """Makes passes over conversations and remembers the last ones."""

    engine: Engine
    strategy: Strategy
    thresholds: WindowThresholds
    pins: tuple[Pin, ...]
    max_messages: int
    keep_results: int | None
    strict: bool
    passes: Passes = field(default_factory=Passes)

    def begin(self, messages: Wires, available: int, *, soft: bool = False) -> Attempt:
        """Read a list; find out what can be sent as it is, and whether that is good enough."""
        history = find_history(messages, self.passes, self.engine, available)
        reused = history.reused()
        current, is_due = self._look_back(history, reused, available, soft=soft)
        state, items = history.state, history.state.view.items
        if is_due and history.is_anew and self.strategy in ("fold", "summarize"):
            items = unroll_items(state, MappingSource(self.passes.original)) or items
        sources = [item.source for item in items]
        task = Task(
            messages=sources,
            engine=self.engine,
            text_cache=state.text_cache,
            available=available,
            anchor_room=Lazy(lambda: self.engine.anchor_room(sources)),
            target=self.thresholds.target(
                current.tokens_after if current else history.total, available
            ),
            pinned=find_pinned(sources, self.pins),
            max_messages=self.max_messages,
            keep_results=self.keep_results,
        )
        return Attempt(
            history=history, items=items, task=task, reused=reused, current=current, is_due=is_due
        )

    def _look_back(
        self, history: History, reused: View | None, available: int, *, soft: bool
    ) -> tuple[FitResult | None, bool]:
        """Return what can be sent without a new pass, and whether one is due anyway."""
        total, earlier = history.total, history.earlier
        limit = available * (self.thresholds.prepare_at if soft else self.thresholds.high_water)
        own = self.passes.made(history.wires)
        if total <= limit or (own and own.result.tokens_available == available):
            return unchanged(history, available, own), False
        if earlier is not None and reused is not None:
            tail = history.tail
            result = extended(earlier.result, reused, total=total, available=available)
            carried = {**history.short, **self._carry(earlier, tail)}
            if carried:
                result = replace(result, verbatim={**result.verbatim, **carried})
            if result.fits:
                enough = max(self.thresholds.clear_at_least, _RETRY_SHARE * available)
                is_calm = (
                    not tail
                    or (earlier.is_stuck and sum(item.unfolded for item in tail) < enough)
                    or self.thresholds.is_spent(earlier.made_at, history.turn)
                )
                return result, result.tokens_after > limit and not is_calm
        return (unchanged(history, available) if total <= available else None), True

    def _carry(self, earlier: Pass, tail: Sequence[Item]) -> dict[str, Any]:
        """Write and return a record for stand-ins in *tail*, after those of the *earlier* pass."""
        if not any(item.source.stands_for is not None for item in tail):
            return {}
        trail = self.engine.new_trail()
        for item in earlier.state.view.items:
            behind = item.source.stands_for if item.fold.is_kept else behind_of(item.fold.sources)
            trail.add(read_said(item.wire), "" if behind is None else behind.fold)
        rendering = render([item.fold for item in tail], version=0, trail=trail)
        self.engine.save(rendering)
        return rendering.verbatim

    def settle(self, attempt: Attempt) -> FitResult | None:
        """Return what to send if no pass is due, which ends the attempt."""
        if attempt.is_due:
            return None
        attempt.history.give_back(self.passes)
        return attempt.current

    def flow(self, attempt: Attempt, tally: Tally) -> Flow[FitResult]:
        """Make a pass; stops where it wants to ask something."""
        make = STRATEGIES[self.strategy]
        fitting = yield from ask_until_known(lambda: make(attempt.task), attempt.task.text_cache)
        return self._finish(attempt, fitting, tally)

    def tighter(self, attempt: Attempt) -> Attempt:
        """Return the attempt with less room, for errors that give no numbers."""
        smaller = max(1, int(_TIGHTER * min(attempt.history.total, attempt.task.available)))
        task = replace(attempt.task, available=smaller, target=smaller)
        return replace(attempt, task=task, current=None, is_due=True)

    def _finish(self, attempt: Attempt, fitting: Fitting, tally: Tally) -> FitResult:
        """Write the fitting out if it saves enough; nothing has been written before this."""
        task, current, history = attempt.task, attempt.current, attempt.history
        plan = self.engine.seal(fitting.plan)
        shown = [item.fold for item in attempt.reused.items] if attempt.reused else []
        plan = self.engine.unbind(plan, shown, rewritten=fitting.rewritten)
        after = sum(map(task.text_cache.tokens.fold, plan))
        if current is not None:
            gain = current.tokens_after - after
            if gain < max(1, self.thresholds.clear_at_least):
                self._remember_stuck(attempt, current)
                return current
        warnings = pair_warnings(task.messages)
        if ends_in_summary(task, fitting):
            warnings = (*warnings, "it ends with a summary: there was no room for the last results")
        obstacles = () if after <= task.available else find_obstacles(task, attempt.items)
        if after > task.available:
            problem = explain(after, task.available, obstacles)
            if self.strict:
                raise BudgetError(problem)
            warnings = (*warnings, problem)
        tally.settle(task.text_cache.written_in(fitting.plan))
        plan, rendering = self._write(plan, fitting, history)
        result = FitResult(
            messages=rendering.messages,
            fits=after <= task.available,
            tokens_before=history.total,
            tokens_after=after,
            tokens_available=task.available,
            dropped_ids=tuple(message.id for message in fitting.dropped),
            summarized_ids=tuple(m.id for f in plan if len(f.sources) > 1 for m in f.sources),
            compressed_ids=tuple(f.sources[0].id for f in plan if _is_shorter(f, fitting)),
            steps=fitting.steps,
            first_changed=first_difference(history.sent(), rendering.messages),
            thinking="stripped" if any(fold.is_stripped for fold in plan) else "kept",
            warnings=warnings,
            obstacles=obstacles,
            verbatim={**history.short, **rendering.verbatim},
            model=tally.report() if self.engine.asker.is_enabled else None,
        )
        if not history.is_anew and history.earlier is not None:
            result = continued(history.earlier.result, result, plan)
        items = history.state.show(plan, rendering, attempt.items, originals=fitting.rewritten)
        self._remember(history, result, items, made_at=history.turn)
        return result

    def _write(self, plan: Plan, fitting: Fitting, history: History) -> tuple[Plan, Rendering]:
        """Write everything out that *fitting* needs to be sent, and to be undone."""

        def add(rendering: Rendering) -> None:
            for message in (*fitting.dropped, *fitting.rewritten.values()):
                if message.stands_for is None:
                    rendering.keep(message)
            shown = (source for fold in plan for source in fold.sources)
            for behind in (m.stands_for for m in shown if m.index in fitting.rewritten):
                if behind is not None and behind.of:
                    record = behind.to_record()
                    rendering.entries[behind.fold] = rendering.verbatim[behind.fold] = record

        trail = self.engine.new_trail()
        trail.looked = history.state.trail.looked
        return self.engine.write(plan, trail=trail, rewritten=fitting.rewritten, add=add)

    def _remember_stuck(self, attempt: Attempt, current: FitResult) -> None:
        """Remember that a pass would save too little, so that *current* is sent."""
        is_reused = attempt.reused is not None and REUSED in current.steps
        view = attempt.reused if is_reused and attempt.reused else attempt.history.state.view
        self._remember(attempt.history, current, view.items)

    def _remember(
        self,
        history: History,
        result: FitResult,
        items: Sequence[Item],
        *,
        made_at: int | None = None,
    ) -> None:
        """Remember a pass; without a turn at which it was *made*, one that saved too little."""
        state, wires = history.state, history.wires
        own = [replace(item, wire=clone(item.wire)) for item in items]
        state.view = replace(state.view, items=own, folded=len(own), seen=len(wires))
        state.copy_given(wires)
        before = () if history.earlier is None else history.earlier.made_at[-_MAX_MADE:]
        done = Pass(
            objects=list(wires),
            state=state,
            turn=history.turn,
            result=replace(result, messages=[]),
            is_stuck=made_at is None,
            made_at=before if made_at is None else (*before, made_at),
        )
        if not self.engine.asker.is_enabled:  # without a model, what is known of a text stays true
            state.keep_texts(own)
            done.grown.append(state.fork(state.text_cache))
        self.passes.remember(done, history.earlier)


def _is_shorter(fold: Fold, fitting: Fitting) -> bool:
    """Tell whether *fold* is a single message that was changed."""
    is_rewritten = fold.sources[0].index in fitting.rewritten
    return len(fold.sources) == 1 and (is_rewritten or not fold.is_kept)


def continued(before: FitResult, now: FitResult, plan: Plan) -> FitResult:
    """Complete the result of a pass over the view of the pass *before* and the new messages.

    What was dropped or summarized before still is; our own summaries do not count as messages that
    were given.
    """
    ours = {m.id for fold in plan for m in fold.sources if is_shared(m)}
    kept = [fold.sources[0] for fold in plan if fold.is_kept]
    short = (message.id for message in kept if message.stands_for is not None)

    def given(ids: Iterable[str]) -> Iterable[str]:
        return (id_ for id_ in ids if id_ not in ours)

    return replace(
        now,
        dropped_ids=(*before.dropped_ids, *given(now.dropped_ids)),
        summarized_ids=(*before.summarized_ids, *given(now.summarized_ids)),
        compressed_ids=(*given(short), *given(now.compressed_ids)),
        verbatim={**before.verbatim, **now.verbatim},
    )


def first_difference(before: Iterable[object], after: Sequence[object]) -> int:
    """Return the index of the first message that differs from the one before at that place."""
    place = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        place += 1
    return place


def find_obstacles(task: Task, items: Sequence[Item]) -> tuple[Obstacle, ...]:
    """Return the messages that must stay, or whose words of the user must, largest first.

    *items* say where each stands in the list that was given.
    """
    spoken = {message.index: "last_user_message" for message, _ in find_last_words(task.messages)}
    found = [
        Obstacle(
            message_id=task.messages[index].id,
            message_index=items[index].first,
            tokens=tokens,
            reason=reason,
        )
        for index, reason in {**spoken, **task.stays}.items()
        if (tokens := task.text_cache.tokens.message(task.messages[index]))  # a note costs nothing
    ]
    return tuple(sorted(found, key=lambda obstacle: -obstacle.tokens)[:_MAX_OBSTACLES])


def explain(after: int, available: int, obstacles: Sequence[Obstacle]) -> str:
    """Say on one line why it does not fit."""
    worst = "; ".join(
        f"messages[{o.message_index}] {o.tokens} tokens ({o.reason})" for o in obstacles[:3]
    )
    return f"{after} tokens do not fit into {available}; in the way: {worst or 'nothing known'}"


def unchanged(history: History, available: int, own: Pass | None = None) -> FitResult:
    """Return the conversation unchanged: because it fits, or because it is a result of ours."""
    total, messages = history.total, history.state.view.sources
    return FitResult(
        messages=[clone(dict(message.wire)) for message in messages],
        fits=total <= available,
        tokens_before=total,
        tokens_after=total,
        tokens_available=available,
        first_changed=len(messages),
        warnings=pair_warnings(messages) if total <= available or not own else own.result.warnings,
        obstacles=() if total <= available or not own else own.result.obstacles,
        verbatim=dict(history.short),
    )


def extended(result: FitResult, view: View, *, total: int, available: int) -> FitResult:
    """Return an earlier result, extended by the messages since then, which are in *view*.

    Its messages are copies; the originals, which may be many, are shared.
    """
    return replace(
        result,
        messages=[clone(item.wire) for item in view.items],
        fits=view.tokens <= available,
        tokens_before=total,
        tokens_after=view.tokens,
        tokens_available=available,
        steps=(REUSED, *(step for step in result.steps if step != REUSED)),
        model=None,
    )
