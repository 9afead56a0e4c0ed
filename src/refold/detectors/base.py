"""The detector: a named reason to treat a text as structure, and how to find it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from refold.scan.prefilter import Needs, words_of
from refold.scan.view import TextView

Span = tuple[int, int]
"""Start and end of a finding, in characters of the text."""

_ANYTHING: Final = Needs()


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One reason why a text is more than prose.

    A *hard* finding keeps the whole text word for word. A *soft* one is recorded, and the text it
    found may go to the entity list of the summary, as far as that has room. `find` yields the
    findings in reading order and must be linear in the text, whatever the text is.
    """

    reason: str
    hard: bool
    find: Callable[[TextView], Iterator[Span]]
    needs: Needs = _ANYTHING
    """What every finding needs: a text without it is ruled out before `find` is asked."""

    def finds(self, view: TextView) -> bool:
        """Tell whether there is at least one finding, ruling nothing out beforehand."""
        return next(self.find(view), None) is not None


def pattern_finder(pattern: re.Pattern[str]) -> Callable[[TextView], Iterator[Span]]:
    """Make a `find` from a regular expression."""

    def find(view: TextView) -> Iterator[Span]:
        for found in pattern.finditer(view.text):
            yield found.span()

    return find


def phrase_finder(phrases: Sequence[str]) -> Callable[[TextView], Iterator[Span]]:
    """Make a `find` for phrases of ASCII words in lower case, whatever case a text has."""
    pattern = re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)

    def find(view: TextView) -> Iterator[Span]:
        # Ignoring case, the pattern reads every character; most texts only have a first word.
        if any(phrase in view.lower for phrase in phrases) or not view.text.isascii():
            for found in pattern.finditer(view.text):
                yield found.span()

    return find


def first_words(phrases: Sequence[str]) -> Needs:
    """Return what a text needs to have one of the *phrases*: their first words."""
    return Needs(words=words_of(" ".join(phrase.split()[0] for phrase in phrases)))
