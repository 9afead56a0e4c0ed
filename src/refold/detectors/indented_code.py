"""Sees code by its indent: two lines in a row that start with four spaces or a tab."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

_TWO_LINES: Final = re.compile(
    r"^(?: {4}|\t)[ \t]*+[^\s][^\n]*+(?:\n(?: {4}|\t)[ \t]*+[^\s][^\n]*+)++", re.MULTILINE
)

# The second of two lines comes after a line feed.
_LATER_LINE: Final = re.compile(r"\n(?: {4}|\t)")


def _find(view: TextView) -> Iterator[Span]:
    text = view.text
    later = _LATER_LINE.search(text)
    if later is not None:
        for found in _TWO_LINES.finditer(text, text.rfind("\n", 0, later.start()) + 1):
            yield found.span()


DETECTOR: Final = Detector(
    reason="indented_code",
    hard=True,
    needs=Needs(shapes=r"\n {4}|\n\t"),
    find=_find,
)
