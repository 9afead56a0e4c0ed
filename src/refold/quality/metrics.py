"""Measures of what a folded conversation still shows, taken from its text and nothing else."""

from __future__ import annotations

from refold.quality.structures import count_structures
from refold.result import Quality
from refold.text.entities import NameFinder, TextsByMessage


def measure_quality(before: TextsByMessage, after: TextsByMessage, finder: NameFinder) -> Quality:
    """Compare the texts of a conversation before and after; *finder* finds what they name.

    Coherence is the share of the names still in use that are still said where they were said first.
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
