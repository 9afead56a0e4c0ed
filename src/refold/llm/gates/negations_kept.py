"""Refuses an answer that leaves out what its source denies or forbids."""

from __future__ import annotations

import re
from typing import Final

from refold.llm.gates._clauses import Clause, split_clauses
from refold.llm.gates.base import Gate, Refusal, Source, some

_AS_GOOD: Final = re.compile(
    r"\b(?:fail|reject|limited|at (?:most|least)|mindestens|höchstens|maxim|minim|au (?:moins|"
    r"plus)|"
    r"al menos|como máximo|échou|un[a-zäöü]{4,}|in(?:valid|complet|ungültig))|最多|至多|至少|"
    r"以内|以下|以上|最大"
)
"""Other ways to say no of something."""
_NEITHER: Final = frozenset(
    "? ？ since last latest until before need needs needed require requires required end ends left "
    "too down out just open".split()
)
"""Words that make a clause vague, but do not say no."""
_KEPT: Final = 0.4
"""The share of what a no is about that is said with one: much of it goes without saying."""


def _check(source: Source, answer: str) -> Refusal | None:
    lost = lost_negations(source, answer)
    if not lost:
        return None
    why = f"the answer lost the no of: {some(lost)}"
    return Refusal(gate="negations_kept", why=why, missing=tuple(lost))


def lost_negations(source: Source, answer: str) -> list[str]:
    """Return the sentences of *source* whose no *answer* does not say."""
    noes = [clause for clause in split_clauses(answer) if _says_no(clause)]
    said = frozenset().union(*(clause.stems for clause in noes))
    return [
        sentence
        for sentence in source.facts.negations
        if sentence not in answer and not _is_said(split_clauses(sentence), said)
    ]


def _says_no(clause: Clause) -> bool:
    is_no = clause.is_denied or clause.says_no or bool(clause.vague - _NEITHER)
    return is_no or _AS_GOOD.search(clause.lower) is not None


def _is_said(clauses: list[Clause], said: frozenset[str]) -> bool:
    """Tell whether what is denied in a sentence is *said* with a no."""
    denied = frozenset().union(*(one.stems for one in clauses if one.is_denied or one.says_no))
    return len(denied & said) >= max(1, _KEPT * len(denied))


GATE: Final = Gate("negations_kept", _check)
