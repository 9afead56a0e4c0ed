"""Measures of what a folded conversation still shows, taken from its text and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_FENCE_LINE: Final = re.compile(r"^ {0,3}```", re.M)
_BRACKET_LINE: Final = re.compile(r"^[{\[]$", re.M)
_TABLE_LINE: Final = re.compile(r"^\|.*\|$", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Four shares from 0 to 1."""

    entity_retention: float
    structural_integrity: float
    reference_coherence: float
    quality_score: float


def measure_quality(
    before: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]],
    place_after: Sequence[int],
    names: Callable[[str], Iterable[str]],
) -> Quality:
    """Compare the texts of a conversation before and after, message by message.

    *place_after* tells for each message before which message after stands in its place; *names*
    finds what a text names.
    """
    said = [_union(map(names, texts)) for texts in before]
    shown = [_union(map(names, texts)) for texts in after]
    wanted, found = _union(said), _union(shown)
    retention = len(wanted & found) / len(wanted) if wanted else 1.0
    integrity = _share(_count_structures(after), _count_structures(before))
    coherence = _coherence(said, shown, place_after, wanted & found)
    return Quality(
        entity_retention=round(retention, 3),
        structural_integrity=round(integrity, 3),
        reference_coherence=round(coherence, 3),
        quality_score=round(min(1.0, 0.4 * retention + 0.4 * integrity + 0.2 * coherence), 3),
    )


def _union(groups: Iterable[Iterable[str]]) -> set[str]:
    united: set[str] = set()
    for group in groups:
        united.update(group)
    return united


def _count_structures(messages: Sequence[Sequence[str]]) -> int:
    return sum(_structures(text) for texts in messages for text in texts)


def _share(part: int, whole: int) -> float:
    return min(1.0, part / whole) if whole else 1.0


def _structures(text: str) -> int:
    """Count fenced blocks, opened brackets and tables."""
    if "```" not in text and "|" not in text and "{" not in text and "[" not in text:
        return 0
    fences = len(_FENCE_LINE.findall(text)) / 2
    tables = len(_TABLE_LINE.findall(text)) >= 2
    return int(fences + len(_BRACKET_LINE.findall(text)) + tables)


def _coherence(
    said: Sequence[set[str]],
    shown: Sequence[set[str]],
    place_after: Sequence[int],
    in_use: set[str],
) -> float:
    """Share of the names still in use whose first mention still says them."""
    introduced: dict[str, int] = {}
    for place, names in enumerate(said):
        for name in names:
            introduced.setdefault(name, place)
    kept = sum(name in shown[place_after[introduced[name]]] for name in in_use)
    return kept / len(in_use) if in_use else 1.0
