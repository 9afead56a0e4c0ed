"""Sees the set phrases in which programs report failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs, words_of
from refold.scan.view import TextView

_PHRASES: Final = (
    "execution failed",
    "authentication failed",
    "authentication error",
    "authorization failed",
    "authorization denied",
    "connection refused",
    "connection timeout",
    "connection timed out",
    "permission denied",
)
_PATTERN: Final = re.compile(rf"\b(?:{'|'.join(_PHRASES)})\b", re.IGNORECASE)

_WORDS: Final = words_of(" ".join(phrase.split()[0] for phrase in _PHRASES))


def _find(view: TextView) -> Iterator[Span]:
    # Without regard to case, the pattern reads every character; most texts only have a first word.
    if any(phrase in view.lower for phrase in _PHRASES) or not view.text.isascii():
        for found in _PATTERN.finditer(view.text):
            yield found.span()


DETECTOR: Final = Detector(
    reason="failure_signature",
    hard=True,
    needs=Needs(words=_WORDS),
    find=_find,
)
