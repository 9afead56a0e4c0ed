"""Refuses an answer that leaves out what its source denies or forbids, or the "no" of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.gates.base import Gate, Refusal, Source, some
from refold.gates.same_language import FUNCTION_WORDS
from refold.text.facts import find_no, pieces

_WORD: Final = re.compile(
    r"(?P<pair>[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2})|[^\W\d_\u3040-\u30ff\u3400-\u9fff]{3,}+"
)
_STEM: Final = 5
"""So many letters of a word tell it from others, whatever its ending."""
_WINDOW: Final = 60
"""A "no" concerns the words within so many characters of it."""
_WINDOW_BEFORE: Final = 30
# Other ways to say no. They do for an answer; in a source they forbid nothing by themselves.
_AS_GOOD: Final = re.compile(
    r"\b(?:avoid|forb[ia]d|prohibit|refus|reject|declin|den(?:y|ied|ies)|fail|unable|lack|missing|"
    r"exclud|disallow|disabl|instead of|rather than|absent|impossib|unsupported|un(?:available|"
    r"authorized|changed|affected|approved|finished|known)|in(?:valid|complete)|off.limits|"
    r"verm(?:ei|ie)d|verb(?:ie|o)t|unmöglich|évit|interdi|impossible|refusé|evit|prohib|proib|"
    r"imposs[ií]|vieta|невозмож|запре|избега|отказ|verbied|vermijd)"
    r"|避免|拒绝|避け|だめ|無し|なし|회피|불가|वर्जित|مستحيل|ممنوع|يمنع|تجنب"
)


def _check(source: Source, answer: str) -> Refusal | None:
    if not source.facts.negations:
        return None
    denied, affirmed = _subjects(answer)
    lost = [
        clause
        for clause in source.facts.negations
        if _is_lost(set(_stems_near_no(clause)), denied, affirmed)
    ]
    if not lost:
        return None
    return Refusal(
        gate="negations_kept", why=f"the answer lost the no of: {some(lost)}", missing=tuple(lost)
    )


def _subjects(answer: str) -> tuple[set[str] | None, set[str]]:
    """Return the stems of the sentences that say no (None if there are none), and the others."""
    denied: set[str] = set()
    affirmed: set[str] = set()
    says_no = False
    for piece in pieces(answer):
        lower = piece.lower()
        if find_no(lower) or _AS_GOOD.search(lower):
            says_no = True
            denied.update(_stems(lower))
        else:
            affirmed.update(_stems(lower))
    return denied if says_no else None, affirmed


def _is_lost(subject: set[str], denied: set[str] | None, affirmed: set[str]) -> bool:
    """Tell whether an answer does not say no of a denied subject.

    It may leave it out or say yes: both lose the no. A subject of which it says both yes and no
    must be denied for the most part.
    """
    if denied is None:
        return True
    denials, mentions = len(subject & denied), len(subject & (denied | affirmed))
    is_mentioned = mentions * 2 >= min(4, len(subject) + 1)
    return bool(subject) and (not is_mentioned or denials * 2 <= mentions)


def _stems_near_no(clause: str) -> Iterator[str]:
    lower = clause.lower()
    end = 0
    for word in find_no(lower):
        start = max(end, word.start() - _WINDOW_BEFORE)
        end = max(start, word.end() + _WINDOW)
        yield from _stems(lower[_word_start(lower, start) : end])


def _word_start(text: str, start: int) -> int:
    """Move back, a few letters at most, to where the word at *start* begins."""
    low = max(0, start - 20)
    cut = text.rfind(" ", low, start)
    return cut + 1 if cut >= 0 else (0 if low == 0 else start)


def _stems(lower: str) -> Iterator[str]:
    for found in _WORD.finditer(lower):
        word = found[0]
        if word not in FUNCTION_WORDS and not find_no(word):
            yield word[:_STEM]


GATE: Final = Gate("negations_kept", _check)
