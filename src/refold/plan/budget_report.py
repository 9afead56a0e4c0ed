"""What became of a budget: the figures, the rungs taken, and what was in the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refold.options import Options
from refold.plan.fold import Fold, Plan
from refold.plan.profiles import preset_of
from refold.plan.token_count import CountedTexts
from refold.result import BudgetReport, Obstacle


def report_budget(
    plan: Plan,
    options: Options,
    tokens: CountedTexts,
    rungs: Sequence[str],
    untouchable: Mapping[int, str],
) -> BudgetReport:
    """Measure the finished *plan*; *untouchable* says which messages cannot give way, and why."""
    budget = options.token_budget or 0
    count = sum(map(tokens.fold, plan))
    is_over = count > budget
    stopped_by = _find_limit(options) if is_over else ""
    # What an option keeps as long as it is could be folded: it is told of as a whole.
    limit = None if stopped_by else budget
    return BudgetReport(
        token_budget=budget,
        token_count=count,
        rungs=tuple(rungs),
        recency_window=_untouched_tail(plan),
        obstacles=find_obstacles(plan, tokens, untouchable, limit) if is_over else (),
        stopped_by=stopped_by,
    )


def find_obstacles(
    plan: Plan, tokens: CountedTexts, untouchable: Mapping[int, str], limit: int | None
) -> tuple[Obstacle, ...]:
    """Name what is in the way, largest first: what cannot give way.

    If that alone is within *limit*, then also what is left of the rest.
    """
    whole: list[Obstacle] = []
    rest: list[Obstacle] = []
    for fold in plan:
        first, cost = fold.sources[0], tokens.fold(fold)
        if not cost:
            continue
        must_stay = fold.is_kept and first.index in untouchable
        reason = untouchable[first.index] if must_stay else _reason_of(fold)
        (whole if must_stay else rest).append(
            Obstacle(message_id=first.id, message_index=first.index, tokens=cost, reason=reason)
        )
    if limit is not None and sum(obstacle.tokens for obstacle in whole) <= limit:
        whole += rest
    return tuple(sorted(whole, key=lambda obstacle: -obstacle.tokens))


def _reason_of(fold: Fold) -> str:
    return next((outcome.reason for row in fold.outcomes for outcome in row), "")


def _find_limit(options: Options) -> str:
    """Name the option that ends the ladder early, if one does."""
    if preset_of(options.profile).loses_nothing:
        return f"profile={options.profile!r}"
    return "" if options.force_converge else "force_converge=False"


def _untouched_tail(plan: Plan) -> int:
    """Count the messages at the end that are as they were."""
    count = 0
    for fold in reversed(plan):
        if not fold.is_kept:
            break
        count += len(fold.sources)
    return count
