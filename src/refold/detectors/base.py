"""What a detector is: a named reason to treat a text as structure, and how to see it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from refold.text.view import TextView

Span = tuple[int, int]
"""Start and end of a finding, in characters of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """One reason why a text is more than prose.

    A *hard* finding keeps the whole text word for word. A *soft* one is recorded, and the text it
    found survives in the entity list of the summary. `find` yields the findings in reading order
    and must be linear in the text, whatever the text is.
    """

    reason: str
    hard: bool
    find: Callable[[TextView], Iterator[Span]]

    def sees(self, view: TextView) -> bool:
        """Tell whether there is at least one finding."""
        return next(self.find(view), None) is not None


def pattern_finder(
    pattern: re.Pattern[str], *needles: str, lower: bool = False
) -> Callable[[TextView], Iterator[Span]]:
    """Make a `find` from a regular expression.

    *needles* are plain strings of which at least one must occur for the pattern to have a chance:
    a substring search is a hundred times cheaper than a scan that finds nothing. With *lower* they
    are looked up in the lower-cased text (for patterns that ignore case).
    """

    def find(view: TextView) -> Iterator[Span]:
        haystack = view.lower if lower else view.text
        if needles and not any(needle in haystack for needle in needles):
            return
        for found in pattern.finditer(view.text):
            yield found.span()

    return find
