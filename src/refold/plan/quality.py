"""The figures of `Result.compression`: sizes, counts of messages, quality."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from refold.lazy import Lazy
from refold.messages.folds import Plan
from refold.messages.token_count import CountedTexts
from refold.options import Options
from refold.result import Compression, Quality, TraceEntry
from refold.scan.entities import NameFinder, TextsByMessage

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


def measure(
    plan: Plan, options: Options, tokens: CountedTexts, finder: NameFinder | None = None
) -> Compression:
    """Compute all figures from the finished plan, so that they are true by construction.

    With a *finder*, which knows the names in texts already, the quality is computed now; without
    one, on first access.
    """
    sizes = _sizes(plan, tokens)
    figures = Compression(
        original_version=options.source_version,
        ratio=sizes.chars_before / sizes.chars_after if sizes.chars_after else 1.0,
        token_ratio=sizes.tokens_before / sizes.tokens_after if sizes.tokens_after else 1.0,
        tokens_before=sizes.tokens_before,
        tokens_after=sizes.tokens_after,
        counter_failures=tokens.failures,
        decisions=tuple(_trace(plan)) if options.trace else (),
        **_count_messages(plan),
    )
    if all(fold.is_kept for fold in plan):
        return figures
    if finder is None:
        quality = Lazy(lambda: _quality(plan, NameFinder()))
    else:
        quality = Lazy.known(_quality(plan, finder))
    return replace(figures, quality=quality)


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
            fates[fate] = fates.get(fate, 0) + 1
    counts: Counter[str] = Counter()
    for fate, count in fates.items():
        counts[_counter_of({action for action, _ in fate})] += count
        counts["messages_pattern_preserved"] += count * _has_reason(fate, "pattern:")
        counts["messages_importance_preserved"] += count * _has_reason(fate, "importance:")
        counts["messages_llm_preserved"] += count * _has_reason(fate, "llm_preserved:")
    return dict(counts)


def _counter_of(actions: set[str]) -> str:
    return next(name for action, name in _COUNTERS.items() if action in actions)


def _has_reason(fate: Fate, prefix: str) -> bool:
    return any(reason.startswith(prefix) for _, reason in fate)


def _quality(plan: Plan, finder: NameFinder) -> Quality:
    """Measure the folded messages only: kept ones would hide what is lost."""
    before, after = TextsByMessage([], []), TextsByMessage([], [])
    place = 0
    for fold in plan:
        if fold.is_kept:
            continue
        said = [part.text for message in fold.sources for part in message.parts]
        shown = fold.texts_after
        before.texts.extend(said)
        before.places.extend([place] * len(said))
        after.texts.extend(shown)
        after.places.extend([place] * len(shown))
        place += 1
    return measure_quality(before, after, finder)


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
                    shown=outcome.shown,
                    account=outcome.pieces,
                )


def measure_quality(before: TextsByMessage, after: TextsByMessage, finder: NameFinder) -> Quality:
    """Compare the texts of a conversation before and after; *finder* finds the names in them.

    Coherence is the share of the remaining names that are still there where they were first said.
    """
    named, in_use, in_place = finder.count_survivors(before, after)
    retention = in_use / named if named else 1.0
    integrity = _share(_count_structures(after.texts), _count_structures(before.texts))
    coherence = in_place / in_use if in_use else 1.0
    return Quality(
        entity_retention=round(retention, 3),
        structural_integrity=round(integrity, 3),
        reference_coherence=round(coherence, 3),
        quality_score=round(min(1.0, 0.4 * retention + 0.4 * integrity + 0.2 * coherence), 3),
    )


def _count_structures(texts: list[str]) -> int:
    return sum(map(count_structures, texts))


def _share(part: int, whole: int) -> float:
    return min(1.0, part / whole) if whole else 1.0


_FENCE: Final = "```"
_MAX_INDENT: Final = 3
"""With four spaces it is code that shows a fence, as in Markdown."""
_MIN_ROWS: Final = 2
"""A single line with pipes is no table."""


def count_structures(text: str) -> int:
    """Count fenced blocks, brackets on a line of their own, and one table."""
    # Searching for one character is much faster than for more, and mostly enough.
    blocks = rows = 0
    if "`" in text and _FENCE in text:
        blocks = _fences(text) // 2
    if "|" in text and ("\n|" in text or text.startswith("|")):
        rows = sum(map(_is_row, text.split("\n")))
    return blocks + _lone(text, "{") + _lone(text, "[") + (rows >= _MIN_ROWS)


def _fences(text: str) -> int:
    """Count the lines that begin with a fence, indented by at most three spaces."""
    count = 0
    place = text.find(_FENCE)
    while place >= 0:
        start = text.rfind("\n", 0, place) + 1
        if place - start <= _MAX_INDENT and not text[start:place].strip(" "):
            count += 1
        end = text.find("\n", place)
        place = text.find(_FENCE, end) if end >= 0 else -1
    return count


def _lone(text: str, bracket: str) -> int:
    """Count the lines that consist of *bracket* alone."""
    if bracket in text and (f"\n{bracket}" in text or text.startswith(bracket)):
        return text.split("\n").count(bracket)
    return 0


def _is_row(line: str) -> bool:
    return len(line) > 1 and line.startswith("|") and line.endswith("|")
