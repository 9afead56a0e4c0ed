"""What a detector is: a named reason to treat a text as structure, and how to see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from refold.detectors._signs import ALWAYS
from refold.detectors._vocabulary import VOCABULARY, seen_in
from refold.text.view import TextView

Span = tuple[int, int]
"""Start and end of a finding, in characters of the text."""

Gate = Callable[[TextView], bool]
"""Tells at little cost whether there can be a finding at all."""


def _always(_: TextView) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One reason why a text is more than prose.

    A *hard* finding keeps the whole text word for word. A *soft* one is recorded, and the text it
    found may go to the entity list of the summary, as far as that has room. `find` yields the
    findings in reading order and must be linear in the text, whatever the text is.

    Most texts have none of a kind, so what can be ruled out is ruled out before `find` is asked: by
    the `gate`, or, where there is a scanner, by one look at the text for all detectors. Both may
    let through what has no finding; neither ever rules one out.
    """

    reason: str
    hard: bool
    find: Callable[[TextView], Iterator[Span]]
    gate: Gate = _always
    sign: int = ALWAYS
    """The bit that the common look sets where there may be a finding, see `_look`.

    A detector that the look knows nothing of is asked about every text.
    """

    def finds(self, view: TextView) -> bool:
        """Tell whether there is at least one finding, ruling nothing out beforehand."""
        return next(self.find(view), None) is not None


def needs_any(*needles: str) -> Gate:
    """Make a gate that wants at least one of *needles* in the text.

    A substring search is a hundred times cheaper than a pattern that finds nothing.
    """
    if len(needles) == 1:
        needle = needles[0]
        return lambda view: needle in view.text

    def gate(view: TextView) -> bool:
        text = view.text
        for needle in needles:  # noqa: SIM110 - `any` costs more than the searches
            if needle in text:
                return True
        return False

    return gate


def needs_word(words: frozenset[bytes]) -> Gate:
    """Make a gate that wants at least one of *words* in the text, in any case.

    The words must be part of the common vocabulary, which is looked for once for all detectors.
    """
    assert words <= VOCABULARY.words
    return lambda view: not words.isdisjoint(seen_in(view))


def needs_outline(pattern: bytes) -> Gate:
    """Make a gate that wants *pattern* in the outline of the text.

    In an outline a question mark stands for any character beyond ASCII as well.
    """
    search = re.compile(pattern).search
    return lambda view: search(view.outline) is not None


def pattern_finder(pattern: re.Pattern[str]) -> Callable[[TextView], Iterator[Span]]:
    """Make a `find` from a regular expression."""

    def find(view: TextView) -> Iterator[Span]:
        for found in pattern.finditer(view.text):
            yield found.span()

    return find
