"""What a summary is worth, whoever wrote it: facts and noes kept, per token."""

from __future__ import annotations

from typing import Final

from refold.gates.base import Source
from refold.gates.facts_present import missing_facts
from refold.gates.negations_kept import lost_negations

_FRAME_TOKENS: Final = 20
"""What the mark around a summary costs: without it, a single fact alone would be the best."""
_NEGATION: Final = 2
"""A no counts as much as so many other facts: who misses it does the wrong thing."""


def merit(source: Source, summary: str) -> float:
    """Return the facts and noes of *source* that *summary* keeps, per token of it."""
    facts = source.facts
    total = len(source.values) + len(facts.quotes) + len(facts.errors) + len(facts.names)
    kept = total - len(missing_facts(source, summary))
    kept += _NEGATION * (len(facts.negations) - len(lost_negations(source, summary)))
    return max(kept, 0) / (source.count_tokens(summary) + _FRAME_TOKENS)
