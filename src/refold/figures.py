"""The figures of `Result.compression`: sizes, and counts of what happened."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from refold.messages.folds import Plan
from refold.messages.token_count import CountedTexts
from refold.options import Options
from refold.result import Compression, TraceEntry

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
    sizes = _sizes(plan, tokens)
    return Compression(
        original_version=options.source_version,
        ratio=sizes.chars_before / sizes.chars_after if sizes.chars_after else 1.0,
        token_ratio=sizes.tokens_before / sizes.tokens_after if sizes.tokens_after else 1.0,
        tokens_before=sizes.tokens_before,
        tokens_after=sizes.tokens_after,
        counter_failures=tokens.failures,
        decisions=trace_of(plan) if options.trace else (),
        **_count_messages(plan),
    )


@dataclass(slots=True)
class _Sizes:
    """Characters and tokens of a conversation before and after."""

    chars_before: int = 0
    chars_after: int = 0
    tokens_before: int = 0
    tokens_after: int = 0


def _sizes(plan: Plan, tokens: CountedTexts) -> _Sizes:
    sizes = _Sizes()
    for fold in plan:
        chars = cost = 0
        for message in fold.sources:
            chars += message.chars
            cost += tokens.message(message)
        sizes.chars_before += chars
        sizes.tokens_before += cost
        sizes.chars_after += chars if fold.is_kept else sum(map(len, fold.texts_after))
        sizes.tokens_after += cost if fold.is_kept else tokens.fold(fold)
    return sizes


def _count_messages(plan: Plan) -> dict[str, Any]:
    """Count messages by what happened to them."""
    fates: dict[Fate, int] = {}
    for fold in plan:
        for row in fold.outcomes:
            fate = tuple([(outcome.action, outcome.reason) for outcome in row])
            if fold.is_stripped:
                fate = (*fate, ("clipped", "thinking"))
            fates[fate] = fates.get(fate, 0) + 1
    counts: Counter[str] = Counter()
    for fate, count in fates.items():
        counts[_counter_of({action for action, _ in fate})] += count
        counts["messages_pattern_preserved"] += count * _has_reason(fate, "pattern:")
        counts["messages_importance_preserved"] += count * _has_reason(fate, "importance:")
    return dict(counts)


def _counter_of(actions: set[str]) -> str:
    return next(name for action, name in _COUNTERS.items() if action in actions)


def _has_reason(fate: Fate, prefix: str) -> bool:
    return any(reason.startswith(prefix) for _, reason in fate)


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
