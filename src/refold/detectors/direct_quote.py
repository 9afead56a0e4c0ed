"""Sees what someone said, word for word: ten or more characters in quotation marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.patterns import QUOTED
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

# Short quotations match too and are passed over below: skipping them here would take their closing
# mark for the opening one of the text after.
_QUOTE: Final = re.compile(QUOTED)
_MIN_CHARS: Final = 12
"""Ten and the two marks."""


def _find(view: TextView) -> Iterator[Span]:
    for found in _QUOTE.finditer(view.text):
        start, end = found.span()
        if end - start >= _MIN_CHARS:
            yield start, end


DETECTOR: Final = Detector(
    reason="direct_quote", hard=False, needs=Needs(shapes='["“„«「『]'), find=_find
)
