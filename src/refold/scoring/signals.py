"""Words with which a message decides, corrects or constrains what came before."""

from __future__ import annotations

import re
from typing import Final

_DECISION: Final = re.compile(
    r"\b(?:must|should|require[ds]?|always|never|do not|don['’]t|instead|rather than|"
    r"the (?:approach|solution|fix|answer) is|decided? to|"
    r"we(?:['’]ll| will) (?:go with|use|implement))\b",
    re.I,
)
_CORRECTION: Final = re.compile(
    r"\b(?:actually|correction|no[,.]?\s(?:use|it['’]s|that['’]s|the)|scratch that|disregard|"
    r"ignore (?:that|my|the previous))\b|\b(?:wait|sorry|instead),"
    r"|\bnot \w+[,.]?\s(?:but|use|it['’]s)\b",
    re.I,
)
_CONSTRAINT: Final = re.compile(
    r"\b(?:constraint|limitation|boundary|deadline|blocker|requirement|prerequisite|dependency|"
    r"breaking change|backwards? compat)",
    re.I,
)
_MAX_SIGNALS: Final = 0.4


def score_signals(text: str) -> float:
    """Return how strongly *text* decides, corrects or constrains, from 0 to 0.4."""
    score = (
        0.15 * (_DECISION.search(text) is not None)
        + 0.25 * (_CORRECTION.search(text) is not None)
        + 0.10 * (_CONSTRAINT.search(text) is not None)
    )
    return min(_MAX_SIGNALS, score)


_X: Final = r"\s[\w'-]{1,40}"
CORRECTION_SIGNALS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern, re.I))
    for name, pattern in (
        ("explicit_correction", r"\b(?:actually|correction)[,.:]"),
        (
            "negation_directive",
            r"\bno[,.]?\s{1,4}(?:use|it['’]s|that['’]s|it should|we should)\b",
        ),
        ("instead_directive", r"\b(?:instead|rather)[,.]?\s{1,4}(?:use|do|we|you)\b"),
        (
            "retraction",
            # A bare "ignore" is an ordinary verb: "should ignore upper and lower case".
            r"\bscratch that\b|\bdisregard\b|\bignore (?:that|this|what i|my (?:last|previous|"
            r"earlier)|the (?:previous|last|earlier|above))\b",
        ),
        ("dont_directive", r"\bdon['’]?t\s{1,4}(?:use|do|add|include|import)\b"),
        ("not_but_pattern", rf"\bnot{_X}[,.;]?\s{{1,4}}(?:but|use|go with)\b"),
        ("wait_correction", r"\bwait[,.]\s"),
        ("sorry_correction", r"\bsorry[,.]\s{1,4}(?:i|that|the)\b"),
        ("self_correction", r"\bi was wrong\b"),
        ("rephrase", r"\blet me (?:correct|rephrase|clarify)\b"),
    )
)


def correction_signal(text: str) -> str | None:
    """Return the name of the first way in which *text* corrects something said before."""
    for name, pattern in CORRECTION_SIGNALS:
        if pattern.search(text):
            return name
    return None
