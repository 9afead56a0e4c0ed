"""Sees web addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors.base import Detector, Span, needs_any
from refold.text.view import TextView

# Chinese, Japanese and Korean are written without a blank after an address, so they end it.
_URL: Final = re.compile(
    r"[hH][tT][tT][pP][sS]?://(?=[\w\[])[^\s<>\"`“”«»\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]++"
)
_AFTER: Final = ".,;:!?'*_…"
"""Punctuation that closes the sentence, not the address."""
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}


def _find(view: TextView) -> Iterator[Span]:
    for found in _URL.finditer(view.text):
        yield found.start(), found.end() - _tail(found[0])


def _tail(url: str) -> int:
    """Return how many characters at the end belong to the text around."""
    surplus = {close: url.count(close) - url.count(open_) for close, open_ in _BRACKETS.items()}
    end = len(url)
    while end:
        last = url[end - 1]
        if surplus.get(last, 0) > 0:
            surplus[last] -= 1
        elif last not in _AFTER:
            break
        end -= 1
    return len(url) - end


DETECTOR: Final = Detector(
    reason="url", hard=False, sign=signs.URL, gate=needs_any("://"), find=_find
)
