"""Count what a plan does: the figures of `Result.compression`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from refold.model.plan import Fold, Plan
from refold.options import Options
from refold.quality.metrics import measure_quality
from refold.result import Compression, TraceEntry
from refold.tokens.base import CountedTexts

_COUNTERS = {
    "compressed": "messages_compressed",
    "code_split": "messages_compressed",
    "truncated": "messages_compressed",
    "deduped": "messages_deduped",
    "fuzzy_deduped": "messages_fuzzy_deduped",
    "contradicted": "messages_contradicted",
    "preserved": "messages_preserved",
}
"""Which counter a message goes to; one with several texts goes to the first of these it fits."""


def measure(
    plan: Plan, options: Options, tokens: CountedTexts, names: Callable[[str], Iterable[str]]
) -> Compression:
    """Work out all figures from the finished plan, so that they are true by construction."""
    chars_before = sum(message.chars for fold in plan for message in fold.sources)
    chars_after = sum(_chars_after(fold) for fold in plan)
    tokens_before = sum(tokens.message(message) for fold in plan for message in fold.sources)
    tokens_after = sum(tokens.fold(fold) for fold in plan)
    counts = _count_messages(plan)
    figures = Compression(
        original_version=options.source_version,
        ratio=chars_before / chars_after if chars_after else 1.0,
        token_ratio=tokens_before / tokens_after if tokens_after else 1.0,
        tokens_before=tokens_before,
        tokens_after=tokens_after,
        counter_failures=tokens.failures,
        decisions=tuple(_trace(plan)) if options.trace else (),
        **counts,
    )
    if all(fold.is_kept for fold in plan):
        return figures
    return replace(figures, **_quality(plan, names))


def _chars_after(fold: Fold) -> int:
    return sum(map(len, fold.texts_after))


def _count_messages(plan: Plan) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for fold in plan:
        for row in fold.outcomes:
            actions = {outcome.action for outcome in row}
            counts[next(name for action, name in _COUNTERS.items() if action in actions)] += 1
            counts["messages_pattern_preserved"] += _has_reason(row, "pattern:")
            counts["messages_importance_preserved"] += _has_reason(row, "importance:")
    return dict(counts)


def _has_reason(row: tuple[Any, ...], prefix: str) -> bool:
    return any(outcome.reason.startswith(prefix) for outcome in row)


def _quality(plan: Plan, names: Callable[[str], Iterable[str]]) -> dict[str, Any]:
    """Measure the folded messages only: what is kept is kept, and would hide what is lost."""
    folds = [fold for fold in plan if not fold.is_kept]
    before = [[part.text for part in m.parts] for fold in folds for m in fold.sources]
    after = [fold.texts_after for fold in folds]
    place_after = [place for place, fold in enumerate(folds) for _ in fold.sources]
    return asdict(measure_quality(before, after, place_after, names))


def _trace(plan: Plan) -> Iterator[TraceEntry]:
    for fold in plan:
        for message, row in zip(fold.sources, fold.outcomes, strict=True):
            for part, outcome in enumerate(row):
                yield TraceEntry(
                    message_id=message.id,
                    message_index=message.index,
                    part=part,
                    action=outcome.action,
                    reason=outcome.reason,
                    input_chars=outcome.input_chars,
                    output_chars=outcome.output_chars,
                )
