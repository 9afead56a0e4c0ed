"""Sees an argument whose steps hang together: a proof, a derivation, a chain of conclusions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.text.view import TextView

# All patterns read lower-cased text.
_LABEL: Final = re.compile(
    r"^[ \t]*+(?:reasoning|conclusion|proof|derivation|chain of thought|step[ -]by[ -]step)"
    r"\s{0,8}+:",
    re.MULTILINE,
)
_LABEL_WORDS: Final = ("reasoning", "conclusion", "proof", "derivation", "of thought", "step")
# "Analysis:" heads a report as often as an argument: it needs a connective beside it.
_MILD_LABEL: Final = re.compile(r"^[ \t]*+analysis\s{0,8}+:", re.MULTILINE)
_NUMBERED: Final = re.compile(r"^[ \t]*+(?:step [0-9]{1,9}+[:.)]|[0-9]{1,9}+[.)]\s)", re.MULTILINE)
_MIN_STEPS: Final = 3
_MIN_MARKERS: Final = 3


def _phrases(*phrases: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    # The check of the character before comes last, so that `re` can search for a literal.
    return tuple((p, re.compile(rf"{p}(?!\w)(?<!\w{p})")) for p in phrases)


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
    if _is_argument(view.lower):
        yield 0, len(view.text)


def _is_argument(lower: str) -> bool:
    if "∴" in lower or _count(_CONCLUSIVE, lower):
        return True
    if any(word in lower for word in _LABEL_WORDS) and _LABEL.search(lower):
        return True
    connectives = _count(_CONNECTIVES, lower)
    markers = connectives + _count(_MARKERS, lower)
    if not markers:
        return False
    # First, second, third tell a story as well as an argument: together they count once.
    if markers + min(1, _count(_ORDINALS, lower)) >= _MIN_MARKERS:
        return True
    if connectives and "analysis" in lower and _MILD_LABEL.search(lower):
        return True
    return _at_least(_MIN_STEPS, _NUMBERED.finditer(lower))


def _count(phrases: Iterable[tuple[str, re.Pattern[str]]], lower: str) -> int:
    return sum(1 for needle, pattern in phrases if needle in lower and pattern.search(lower))


def _at_least(count: int, found: Iterator[re.Match[str]]) -> bool:
    return sum(1 for _ in zip(range(count), found, strict=False)) == count


DETECTOR: Final = Detector(reason="reasoning_chain", hard=True, find=_find)
