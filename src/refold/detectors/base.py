"""What a detector is: a named reason to treat a text as structure, and how to see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from refold.detectors._vocabulary import VOCABULARY
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
    found survives in the entity list of the summary. `find` yields the findings in reading order
    and must be linear in the text, whatever the text is. Most texts have none of a kind, so the
    `gate` rules out what it can before `find` is asked; it never rules out a finding.
    """

    reason: str
    hard: bool
    find: Callable[[TextView], Iterator[Span]]
    gate: Gate = _always

    def sees(self, view: TextView) -> bool:
        """Tell whether there is at least one finding."""
        return self.gate(view) and next(self.find(view), None) is not None


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


def needs_word(words: frozenset[bytes], *needles: str) -> Gate:
    """Make a gate that wants at least one of *words* in the text, in any case, or of *needles*.

    The words must be part of the common vocabulary, which is looked for once for all detectors.
    """
    assert words <= VOCABULARY.words

    def gate(view: TextView) -> bool:
        if not words.isdisjoint(view.seen(VOCABULARY)):
            return True
        return any(needle in view.text for needle in needles)

    return gate


def needs_outline(*shapes: bytes) -> Gate:
    """Make a gate that wants at least one of *shapes* in the outline of the text.

    A question mark stands for any character beyond ASCII, so one in a shape counts only there.
    """
    ascii_shapes = tuple(shape for shape in shapes if b"?" not in shape)

    def gate(view: TextView) -> bool:
        wanted = ascii_shapes if view.text.isascii() else shapes
        return any(shape in view.outline for shape in wanted)

    return gate


def pattern_finder(pattern: re.Pattern[str]) -> Callable[[TextView], Iterator[Span]]:
    """Make a `find` from a regular expression."""

    def find(view: TextView) -> Iterator[Span]:
        for found in pattern.finditer(view.text):
            yield found.span()

    return find
