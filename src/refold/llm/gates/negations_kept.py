"""Refuses an answer that leaves out what its source denies or forbids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from refold.llm.gates._clauses import Clause, split_clauses
from refold.llm.gates.base import Gate, Refusal, Source, some
from refold.llm.gates.limits_kept import AS_GOOD

_AS_GOOD: Final = re.compile(
    r"\b(?:fail|reject|limited|at (?:most|least)|mindestens|höchstens|maxim|minim|au (?:moins|"
    r"plus)|al menos|como máximo|échou|un[a-zäöü]{4,}|in(?:valid|complet|ungültig))|最多|至多|至少|"
    r"以内|以下|以上|最大"
)
"""Other ways to say no of something."""
_KEPT: Final = 0.4
"""The share of what is denied that the answer has to deny, too: much goes without saying."""


def _check(source: Source, answer: str) -> Refusal | None:
    lost = lost_negations(source, answer)
    if not lost:
        return None
    why = f"the answer lost the no of: {some(lost)}"
    return Refusal(why, missing=tuple(lost))


def lost_negations(source: Source, answer: str) -> list[str]:
    """Return the sentences of *source* whose negation *answer* lacks."""
    clauses = split_clauses(answer)
    plain = _stems_of(clause for clause in clauses if clause.plain_noes or _is_limited(clause))
    denied = _stems_of(clause for clause in clauses if clause.noes)
    return [
        sentence
        for sentence in source.facts.negations
        if sentence not in answer and not _is_said(split_clauses(sentence), plain, denied)
    ]


def _stems_of(clauses: Iterable[Clause]) -> frozenset[str]:
    return frozenset().union(*(clause.stems for clause in clauses))


def _is_limited(clause: Clause) -> bool:
    return bool(AS_GOOD.search(clause.lower) or _AS_GOOD.search(clause.lower))


def _is_said(clauses: Sequence[Clause], plain: frozenset[str], denied: frozenset[str]) -> bool:
    """Tell whether what a sentence denies is said with a no.

    Words such as *delete* are one, unless the sentence has them itself: do not delete.
    """
    noes = [clause for clause in clauses if clause.plain_noes] or clauses
    has_denial = any(clause.noes > clause.plain_noes for clause in noes)
    about = _stems_of(noes)
    return len(about & (plain if has_denial else plain | denied)) >= max(1, _KEPT * len(about))


GATE: Final = Gate("negations_kept", _check)
