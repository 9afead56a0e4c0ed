"""What became of a budget: the figures, the rungs taken, and what was in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refold.model.plan import Plan
from refold.options import Options
from refold.result import BudgetReport, Obstacle
from refold.tokens.base import CountedTexts


def report_budget(
    plan: Plan,
    options: Options,
    tokens: CountedTexts,
    rungs: Sequence[str],
    untouchable: Mapping[int, str],
) -> BudgetReport:
    """Measure the finished *plan*; *untouchable* says which messages cannot give way, and why.

    In the way is what such a message still costs there; the profile `agent` may shorten some.
    """
    budget = options.token_budget or 0
    messages = [message for fold in plan for message in fold.sources]
    count = sum(map(tokens.fold, plan))
    costs = {fold.sources[0].index: tokens.fold(fold) for fold in plan if len(fold.sources) == 1}
    obstacles = [
        Obstacle(message_id=messages[index].id, message_index=index, tokens=cost, reason=reason)
        for index, reason in untouchable.items()
        if (cost := costs.get(index, 0))
    ]
    return BudgetReport(
        token_budget=budget,
        token_count=count,
        rungs=tuple(rungs),
        recency_window=_untouched_tail(plan),
        obstacles=tuple(sorted(obstacles, key=lambda o: -o.tokens)) if count > budget else (),
        stopped_by=_find_limit(options) if count > budget else "",
    )


def _find_limit(options: Options) -> str:
    """Name the option that ends the ladder early, if one does."""
    if options.profile == "lossless":
        return "profile='lossless'"
    return "" if options.force_converge else "force_converge=False"


def _untouched_tail(plan: Plan) -> int:
    """Count the messages at the end that are as they were."""
    count = 0
    for fold in reversed(plan):
        if not fold.is_kept:
            break
        count += len(fold.sources)
    return count
