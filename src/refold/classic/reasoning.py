"""See an argument whose steps hang together: a proof, a derivation, a chain of conclusions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Final

from refold.classic.texts import View
from refold.classic.words import (
    CHAIN_WORDS,
    CONCLUSIVE,
    CONNECTIVES,
    LABEL_WORDS,
    MARKERS,
    ORDINALS,
    words_of,
)

_MIN_MARKERS: Final = 3
"""How many phrases make an argument if none does so alone."""
_MIN_STEPS: Final = 3
"""How many numbered lines make one together with such a phrase."""
# These read lower-cased text after a line feed.
_LABEL: Final = re.compile(
    r"\n[ \t]*+(?:reasoning|conclusion|proof|derivation|chain of thought|step[ -]by[ -]step)"
    r"\s{0,8}+:"
)
# "Analysis:" heads a report as often as an argument: it needs a connective beside it.
_MILD_LABEL: Final = re.compile(r"\n[ \t]*+analysis\s{0,8}+:")
_NUMBERED: Final = re.compile(r"\n[ \t]*+(?:step [0-9]{1,9}+[:.)]|[0-9]{1,9}+[.)](?=\s))")


def _by_word(*phrases: str) -> Mapping[bytes, tuple[str, ...]]:
    """Map a word that few other texts have to the phrases with it."""
    table: dict[bytes, tuple[str, ...]] = {}
    for phrase in phrases:
        word = next(word for word in phrase.encode().split() if word in CHAIN_WORDS)
        table[word] = (*table.get(word, ()), phrase)
    return table


_CONCLUSIVE: Final = _by_word(*CONCLUSIVE)
_CONNECTIVES: Final = _by_word(*CONNECTIVES)
_MARKERS: Final = _by_word(*MARKERS)


def is_argument(view: View) -> bool:
    """Tell whether a text argues step by step."""
    if not view.text.isascii() and "∴" in view.text:
        return True
    seen = view.words & CHAIN_WORDS
    if not seen:
        return False
    if _count(_CONCLUSIVE, view):
        return True
    if seen & LABEL_WORDS and ":" in view.text and _LABEL.search(f"\n{view.lower}"):
        return True
    connectives = _count(_CONNECTIVES, view)
    markers = connectives + _count(_MARKERS, view)
    if not markers:
        return False
    # First, second, third tell a story as well as an argument: together they count once.
    if markers + (not ORDINALS.isdisjoint(view.words)) >= _MIN_MARKERS:
        return True
    lines = f"\n{view.lower}"
    if connectives and words_of("analysis") <= view.words and _MILD_LABEL.search(lines):
        return True
    return len(list(islice(_NUMBERED.finditer(lines), _MIN_STEPS))) == _MIN_STEPS


def _count(phrases: Mapping[bytes, tuple[str, ...]], view: View) -> int:
    """Count the phrases that a text has, each once."""
    return sum(view.has(phrase) for word in phrases.keys() & view.words for phrase in phrases[word])
