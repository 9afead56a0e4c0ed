"""Append-only folding: a tool result is shortened once, before it is first sent, and never again.

What was sent stays as it is, so thinking that a provider has bound to it stays valid, and a prompt
cache goes on to hit. Only tool results are shortened; everything else is sent as it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

from refold.conversation.state import State
from refold.conversation.view import Item, View, by_index
from refold.errors import BudgetError
from refold.messages.folds import Fold, Plan
from refold.messages.message import Message
from refold.messages.provider import is_bound
from refold.messages.token_count import CountedTexts
from refold.options import Options
from refold.plan.fit import report_budget
from refold.result import BudgetReport

_RESULT_SHARE: Final = 0.1
"""The most that one result may take of a budget. A guess, not tuned: with 60 % of a window of
200,000 tokens it is 12,000, more than agents such as Codex let a result have. Lower cuts results
that are read whole, higher fills the budget with a few of them."""
_LEAST_SHARE: Final = 0.02
"""What a result gets in any case, even if the budget is spent: an agent that sees nothing of what
its tools return can only fail."""
_SENT: Final = "already_sent"


def unsent_from(messages: Sequence[Message]) -> int:
    """Return the place of the first message that no model has answered yet."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].is_turn and messages[place].role == "assistant":
            return place + 1
    return 0


class Arrivals:
    """Decides how a session sends messages for the first time, and knows what is bound to that."""

    def __init__(
        self, state: State, settle: Callable[[Callable[[], list[Fold]]], list[Fold]]
    ) -> None:
        """*settle* makes a plan, asking for whatever it wants to know."""
        self._state = state
        self._settle = settle
        self._thought: tuple[list[Item], int, bool] = ([], 0, False)
        """A list of items, how many of them were scanned, and whether one has thinking."""

    def are_bound(self, now: View) -> bool:
        """Tell whether the view has thinking that a change before it would make invalid."""
        if not is_bound(self._state.engine.options.model):
            return False
        known = self._thought  # a fold makes another list; until then it only grows
        looked, found = known[1:] if known[0] is now.items else (0, False)
        found = found or any(item.shows_thinking for item in now.items[looked:])
        self._thought = now.items, len(now.items), found
        return found

    def plan(
        self, sources: Sequence[Message], start: int, budget: int | None, used: int | None = None
    ) -> list[Fold]:
        """Decide how the messages from *start* on are sent, the first time and ever after.

        Results are re-encoded without loss. Where there is a *budget*, none takes more than its
        share of it; if so much is *used* already, all together take no more than what is left, as
        long as that is something for each.
        """
        return self._settle(lambda: self._plan(sources, start, budget, used))

    def _plan(
        self, messages: Sequence[Message], start: int, budget: int | None, used: int | None
    ) -> list[Fold]:
        engine, text_cache = self._state.engine, self._state.text_cache
        options, tokens = replace(engine.options, recency_window=0), text_cache.tokens
        fresh = {m.index for m in messages[start:] if m.is_tool_result and not m.is_fixed}
        pinned = {m.index: _SENT for m in messages if m.index not in fresh}
        hidden = self._state.view.hidden(start)
        plan = engine.plan_rest(
            messages, text_cache, start=start, hidden=hidden, pinned=pinned, options=options
        )
        folds = {fold.sources[0].index: fold for fold in plan}
        costs = {index: tokens.fold(folds[index]) for index in fresh}
        most = sum(costs.values())
        if budget is not None:
            most = _allowed(costs.values(), engine.aim(budget, tokens), used)
        if sum(costs.values()) > most:
            target = most + sum(tokens.message(m) for m in messages if m.index in pinned)
            cut, _ = engine.plan(
                messages, text_cache, replace(options, token_budget=target), target, pinned=pinned
            )
            for fold in cut:
                index = fold.sources[0].index
                is_alone = len(fold.sources) == 1 and not fold.is_rolled
                if index in fresh and is_alone and tokens.fold(fold) < costs[index]:
                    folds[index] = fold
        return [folds[message.index] for message in messages[start:]]

    def are_unknown(self, now: View, plan: Plan, budget: int | None) -> bool:
        """Tell whether another session may have sent the beginning in a form other than given."""
        if not any(item.source.thinking for item in now.items):
            return False
        if not all(fold.is_kept for fold in plan):
            return True
        sources = now.sources
        rest = self.plan(sources[: unsent_from(sources)], 0, budget)
        return not all(fold.is_kept for fold in rest)


def _allowed(costs: Collection[int], aim: int, used: int | None) -> int:
    """Return what all results together may cost."""
    most = sum(min(cost, int(_RESULT_SHARE * aim)) for cost in costs)
    least = sum(min(cost, int(_LEAST_SHARE * aim)) for cost in costs)
    return most if used is None else max(least, min(most, aim - used))


def report_sent(
    view: View, token_budget: int, options: Options, tokens: CountedTexts
) -> BudgetReport:
    """Report on a budget where nothing that was sent may change."""
    options = replace(options, token_budget=token_budget)
    sent = dict.fromkeys(range(len(view.items)), _SENT)
    plan = tuple(item.fold for item in view.items)
    report = report_budget(plan, options, tokens, ["append"], sent)
    report = by_index(report, view.items)
    if options.strict and not report.fits:
        raise BudgetError(report.explain())
    return report
