"""The figures of a finished plan: sizes, counts of what happened, the trace, the budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from refold.messages.folds import Plan
from refold.messages.token_count import CountedTexts, count_plan
from refold.options import Options
from refold.result import BudgetReport, Compression, Obstacle, TraceEntry

_COUNTERS = {
    "compressed": "messages_compressed",
    "code_split": "messages_compressed",
    "truncated": "messages_compressed",
    "excerpted": "messages_compressed",
    "digested": "messages_compressed",
    "recoded": "messages_compressed",
    "clipped": "messages_compressed",
    "deduped": "messages_deduped",
    "fuzzy_deduped": "messages_fuzzy_deduped",
    "contradicted": "messages_contradicted",
    "preserved": "messages_preserved",
}
"""The counter of each action; a message with several goes to the first of these."""


Fate = tuple[tuple[str, str], ...]
"""The action and reason for each text of a message."""


def measure(plan: Plan, options: Options, tokens: CountedTexts) -> Compression:
    """Compute all figures from the finished plan, so that they are true by construction."""
    chars_before = chars_after = tokens_before = tokens_after = 0
    for fold in plan:
        chars = sum([message.chars for message in fold.sources])
        cost = sum(map(tokens.message, fold.sources))
        chars_before += chars
        tokens_before += cost
        chars_after += chars if fold.is_kept else sum(map(len, fold.texts_after))
        tokens_after += cost if fold.is_kept else tokens.fold(fold)
    return Compression(
        original_version=options.source_version,
        ratio=chars_before / chars_after if chars_after else 1.0,
        token_ratio=tokens_before / tokens_after if tokens_after else 1.0,
        tokens_before=tokens_before,
        tokens_after=tokens_after,
        counter_failures=tokens.failures,
        decisions=trace_of(plan) if options.trace else (),
        **_count_messages(plan),
    )


def _count_messages(plan: Plan) -> dict[str, Any]:
    """Count messages by what happened to them."""
    fates: Counter[Fate] = Counter()
    for fold in plan:
        stripped = (("clipped", "thinking"),) if fold.is_stripped else ()
        for row in fold.outcomes:
            fates[(*[(outcome.action, outcome.reason) for outcome in row], *stripped)] += 1
    counts: Counter[str] = Counter()
    for fate, count in fates.items():
        actions = {action for action, _ in fate}
        counts[next(name for action, name in _COUNTERS.items() if action in actions)] += count
        for name in ("pattern", "importance"):
            has_reason = any(reason.startswith(f"{name}:") for _, reason in fate)
            counts[f"messages_{name}_preserved"] += count * has_reason
    return dict(counts)


def trace_of(plan: Plan) -> tuple[TraceEntry, ...]:
    """Return what happened to each text, in the order of the conversation."""
    return tuple(
        TraceEntry(
            message_id=message.id,
            message_index=message.index,
            part=part,
            action=outcome.action,
            reason=outcome.reason,
            input_chars=outcome.input_chars,
            output_chars=outcome.output_chars,
            shown=outcome.shown,
            account=outcome.pieces,
        )
        for fold in plan
        for message, row in zip(fold.sources, fold.outcomes, strict=True)
        for part, outcome in enumerate(row)
    )


def report_budget(
    plan: Plan,
    budget: int,
    *,
    options: Options,
    tokens: CountedTexts,
    rungs: Sequence[str],
    untouchable: Mapping[int, str],
) -> BudgetReport:
    """Measure the finished *plan*; *untouchable* maps messages that must stay to the reason."""
    count = count_plan(plan, tokens)
    is_over, stopped_by = count > budget, ""
    if is_over and options.profile == "lossless":
        stopped_by = f"profile={options.profile!r}"
    elif is_over and not options.force_converge:
        stopped_by = "force_converge=False"
    # What only an option keeps from being folded is reported as a whole, not message by message.
    limit = None if stopped_by else budget
    return BudgetReport(
        token_budget=budget,
        token_count=count,
        rungs=tuple(rungs),
        recency_window=sum(
            len(fold.sources) for fold in takewhile(lambda fold: fold.is_kept, reversed(plan))
        ),
        obstacles=find_obstacles(plan, tokens, untouchable, limit) if is_over else (),
        stopped_by=stopped_by,
    )


def find_obstacles(
    plan: Plan, tokens: CountedTexts, untouchable: Mapping[int, str], limit: int | None
) -> tuple[Obstacle, ...]:
    """Return what keeps a plan from fitting, the largest first: messages that must stay.

    If these alone are within *limit*, also what is left of the others.
    """
    whole: list[Obstacle] = []
    rest: list[Obstacle] = []
    for fold in plan:
        first, cost = fold.sources[0], tokens.fold(fold)
        if not cost:
            continue
        must_stay = fold.is_kept and first.index in untouchable
        why = next((outcome.reason for row in fold.outcomes for outcome in row), "")
        reason = untouchable[first.index] if must_stay else why
        (whole if must_stay else rest).append(
            Obstacle(message_id=first.id, message_index=first.index, tokens=cost, reason=reason)
        )
    if limit is not None and sum(obstacle.tokens for obstacle in whole) <= limit:
        whole += rest
    return tuple(sorted(whole, key=lambda obstacle: -obstacle.tokens))
