"""Sees words that bind: shall, may not, notwithstanding, whereas, hereby."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs, words_of
from refold.scan.view import TextView

_TERMS: Final = ("shall", "may not", "notwithstanding", "whereas", "hereby")
_PATTERN: Final = re.compile(rf"\b(?:{'|'.join(_TERMS)})\b", re.IGNORECASE)

_WORDS: Final = words_of("shall may notwithstanding whereas hereby")


def _find(view: TextView) -> Iterator[Span]:
    # Without regard to case, the pattern reads every character; most texts only have a "may".
    if any(term in view.lower for term in _TERMS) or not view.text.isascii():
        for found in _PATTERN.finditer(view.text):
            yield found.span()


DETECTOR: Final = Detector(
    reason="legal_term",
    hard=False,
    needs=Needs(words=_WORDS),
    find=_find,
)
