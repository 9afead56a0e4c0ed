"""Measures of what a folded conversation still shows, taken from its text and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from refold.text.entities import iter_entities

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


def measure_quality(before: Sequence[str], after: Sequence[str], first: Sequence[int]) -> Quality:
    """Compare the texts of a conversation before and after.

    *first* tells for each text before which text after stands in its place.
    """
    said = {text: frozenset(iter_entities(text)) for text in {*before, *after}}
    wanted = _union(said[text] for text in before)
    shown = _union(said[text] for text in after)
    retention = len(wanted & shown) / len(wanted) if wanted else 1.0
    integrity = _share(sum(map(_structures, after)), sum(map(_structures, before)))
    coherence = _coherence(before, after, first, said)
    return Quality(
        entity_retention=round(retention, 3),
        structural_integrity=round(integrity, 3),
        reference_coherence=round(coherence, 3),
        quality_score=round(min(1.0, 0.4 * retention + 0.4 * integrity + 0.2 * coherence), 3),
    )


def _union(sets: Iterable[frozenset[str]]) -> set[str]:
    united: set[str] = set()
    for members in sets:
        united |= members
    return united


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
    before: Sequence[str],
    after: Sequence[str],
    first: Sequence[int],
    said: Mapping[str, frozenset[str]],
) -> float:
    """Share of the names still in use whose first mention still says them."""
    introduced: dict[str, int] = {}
    for place, text in enumerate(before):
        for name in said[text]:
            introduced.setdefault(name, place)
    used = [name for name in _union(said[text] for text in after) if name in introduced]
    kept = sum(name in said[after[first[introduced[name]]]] for name in used)
    return kept / len(used) if used else 1.0
