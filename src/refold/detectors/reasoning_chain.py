"""Sees an argument whose steps hang together: a proof, a derivation, a chain of conclusions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs, words_of
from refold.scan.view import TextView

_WORDS: Final = words_of(
    "follows conclude deduce infer implies proves qed therefore hence thus consequently "
    "accordingly means result because shows given assuming know think reason analyze consider "
    "break conclusion summarize summary reasoning proof derivation thought step"
)
"""One of these stands in every phrase and label: a word that few other texts have."""
_ORDINAL_WORDS: Final = words_of("first firstly second secondly third thirdly")
_ANALYSIS: Final = words_of("analysis")
_MIN_MARKERS: Final = 3
"""How many phrases make an argument of which none does so by itself."""
_MIN_STEPS: Final = 3
"""How many numbered lines make one together with such a phrase."""

# All patterns read lower-cased text; those of lines want a line feed before the first one too.
_LABEL: Final = re.compile(
    r"\n[ \t]*+(?:reasoning|conclusion|proof|derivation|chain of thought|step[ -]by[ -]step)"
    r"\s{0,8}+:"
)
_LABEL_WORDS: Final = words_of("reasoning conclusion proof derivation thought step")
# "Analysis:" heads a report as often as an argument: it needs a connective beside it.
_MILD_LABEL: Final = re.compile(r"\n[ \t]*+analysis\s{0,8}+:")
_NUMBERED: Final = re.compile(r"\n[ \t]*+(?:step [0-9]{1,9}+[:.)]|[0-9]{1,9}+[.)](?=\s))")


class Phrase(NamedTuple):
    """Words that connect an argument."""

    words: bytes
    pattern: re.Pattern[str]


PhrasesByWord = Mapping[bytes, Sequence[Phrase]]
"""Phrases by one of their words that few other texts have."""


def _phrases(*phrases: str) -> PhrasesByWord:
    by_word: dict[bytes, list[Phrase]] = {}
    for words in phrases:
        # The check of the character before comes last, so that `re` can search for a literal.
        phrase = Phrase(words.encode(), re.compile(rf"{words}(?!\w)(?<!\w{words})"))
        by_word.setdefault(_telling_word(words), []).append(phrase)
    return by_word


def _telling_word(phrase: str) -> bytes:
    return next(word for word in phrase.encode().split() if word in _WORDS | _ORDINAL_WORDS)


CONCLUSIVE: Final = _phrases(
    "it follows that",
    "we can conclude",
    "we can deduce",
    "we can infer",
    "this implies that",
    "this proves that",
    "qed",
)
CONNECTIVES: Final = _phrases(
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
MARKERS: Final = _phrases(
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
    if _count(CONCLUSIVE, view):
        return True
    seen = view.words
    if not _LABEL_WORDS.isdisjoint(seen) and ":" in view.text and _LABEL.search(_lines(view)):
        return True
    connectives = _count(CONNECTIVES, view)
    markers = connectives + _count(MARKERS, view)
    if not markers:
        return False
    # First, second, third tell a story as well as an argument: together they count once.
    if markers + min(1, _count(_ORDINALS, view)) >= _MIN_MARKERS:
        return True
    if connectives and not _ANALYSIS.isdisjoint(seen) and _MILD_LABEL.search(_lines(view)):
        return True
    return _at_least(_MIN_STEPS, _NUMBERED.finditer(_lines(view)))


def _count(phrases: PhrasesByWord, view: TextView) -> int:
    """Count the phrases that the text has, each once."""
    count = 0
    for word in phrases.keys() & view.words:
        for phrase in phrases[word]:
            if view.plain_lower.find(phrase.words) >= 0 and phrase.pattern.search(view.lower):
                count += 1
    return count


def _lines(view: TextView) -> str:
    return f"\n{view.lower}"


def _at_least(count: int, found: Iterator[re.Match[str]]) -> bool:
    return sum(1 for _ in zip(range(count), found, strict=False)) == count


DETECTOR: Final = Detector(
    reason="reasoning_chain",
    hard=True,
    needs=Needs(shapes="∴", words=_WORDS),
    find=_find,
)
