"""Sees web addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.text.prefilter import Needs
from refold.text.urls import trim_url
from refold.text.view import TextView

# Chinese, Japanese and Korean are written without a blank after an address, so they end it.
_URL: Final = re.compile(
    r"[hH][tT][tT][pP][sS]?://(?=[\w\[])[^\s<>\"`“”«»\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]++"
)


def _find(view: TextView) -> Iterator[Span]:
    for found in _URL.finditer(view.text):
        yield found.start(), found.start() + len(trim_url(found[0]))


DETECTOR: Final = Detector(reason="url", hard=False, needs=Needs(shapes="://"), find=_find)
