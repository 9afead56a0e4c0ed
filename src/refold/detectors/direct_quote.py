"""Sees what someone said, word for word: ten or more characters in quotation marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors.base import Detector, Span, needs_any
from refold.text.view import TextView

# Short quotations match too and are passed over below: skipping them here would take their closing
# mark for the opening one of the text after.
_QUOTE: Final = re.compile(
    r'"[^"\n]*+"|“[^“”\n]*+”|„[^„“”\n]*+[“”]|«[^«»\n]*+»|「[^「」\n]*+」|『[^『』\n]*+』'
)
_MIN_CHARS: Final = 12
"""Ten and the two marks."""

_has_foreign: Final = needs_any("“", "„", "«", "「", "『")


def _find(view: TextView) -> Iterator[Span]:
    for found in _QUOTE.finditer(view.text):
        start, end = found.span()
        if end - start >= _MIN_CHARS:
            yield start, end


def _may_see(view: TextView) -> bool:
    return '"' in view.text or (not view.text.isascii() and _has_foreign(view))


DETECTOR: Final = Detector(
    reason="direct_quote", hard=False, sign=signs.DIRECT_QUOTE, gate=_may_see, find=_find
)
