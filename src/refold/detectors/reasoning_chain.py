"""Sees an argument whose steps hang together: a proof, a derivation, a chain of conclusions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from refold.detectors._vocabulary import ANALYSIS, ORDINALS, REASONING, VOCABULARY
from refold.detectors.base import Detector, Span, needs_word
from refold.text.view import TextView

# All patterns read lower-cased text.
_LABEL: Final = re.compile(
    r"^[ \t]*+(?:reasoning|conclusion|proof|derivation|chain of thought|step[ -]by[ -]step)"
    r"\s{0,8}+:",
    re.MULTILINE,
)
_LABEL_WORDS: Final = frozenset(b"reasoning conclusion proof derivation thought step".split())
# "Analysis:" heads a report as often as an argument: it needs a connective beside it.
_MILD_LABEL: Final = re.compile(r"^[ \t]*+analysis\s{0,8}+:", re.MULTILINE)
_NUMBERED: Final = re.compile(r"^[ \t]*+(?:step [0-9]{1,9}+[:.)]|[0-9]{1,9}+[.)]\s)", re.MULTILINE)
_MIN_STEPS: Final = 3
_MIN_MARKERS: Final = 3


class _Phrase(NamedTuple):
    """Words that connect an argument; *word* is one of them that few other texts have."""

    word: bytes
    phrase: str
    pattern: re.Pattern[str]


def _phrases(*phrases: str) -> tuple[_Phrase, ...]:
    # The check of the character before comes last, so that `re` can search for a literal.
    return tuple(_Phrase(_telling_word(p), p, re.compile(rf"{p}(?!\w)(?<!\w{p})")) for p in phrases)


def _telling_word(phrase: str) -> bytes:
    return next(word for word in phrase.encode().split() if word in REASONING | ORDINALS)


_CONCLUSIVE: Final = _phrases(
    "it follows that",
    "we can conclude",
    "we can deduce",
    "we can infer",
    "this implies that",
    "this proves that",
    "qed",
)
_CONNECTIVES: Final = _phrases(
    "therefore",
    "hence",
    "thus",
    "consequently",
    "accordingly",
    "this means that",
    "as a result",
    "because of this",
    "which implies",
    "which means",
    "which shows",
    "given that",
    "assuming that",
    "since we know",
)
_MARKERS: Final = _phrases(
    "let me think",
    "let me reason",
    "let me analyze",
    "let's consider",
    "let's break this down",
    "in conclusion",
    "to summarize",
    "in summary",
)
_ORDINALS: Final = _phrases("first", "firstly", "second", "secondly", "third", "thirdly")


def _find(view: TextView) -> Iterator[Span]:
    if "∴" in view.text or _is_argument(view):
        yield 0, len(view.text)


def _is_argument(view: TextView) -> bool:
    if _count(_CONCLUSIVE, view):
        return True
    seen, lower = view.seen(VOCABULARY), view.lower
    if not _LABEL_WORDS.isdisjoint(seen) and ":" in lower and _LABEL.search(lower):
        return True
    connectives = _count(_CONNECTIVES, view)
    markers = connectives + _count(_MARKERS, view)
    if not markers:
        return False
    # First, second, third tell a story as well as an argument: together they count once.
    if markers + min(1, _count(_ORDINALS, view)) >= _MIN_MARKERS:
        return True
    if connectives and not ANALYSIS.isdisjoint(seen) and _MILD_LABEL.search(lower):
        return True
    return _at_least(_MIN_STEPS, _NUMBERED.finditer(lower))


def _count(phrases: Iterable[_Phrase], view: TextView) -> int:
    seen = view.seen(VOCABULARY)
    return sum(
        1
        for word, phrase, pattern in phrases
        if word in seen and phrase in view.lower and pattern.search(view.lower)
    )


def _at_least(count: int, found: Iterator[re.Match[str]]) -> bool:
    return sum(1 for _ in zip(range(count), found, strict=False)) == count


DETECTOR: Final = Detector(
    reason="reasoning_chain", hard=True, find=_find, gate=needs_word(REASONING, "∴")
)
