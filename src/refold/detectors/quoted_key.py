"""Sees quoted names that head a value or stand in a list: "timeout": 30."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors.base import Detector, Span, needs_any
from refold.text.view import TextView

_KEY: Final = re.compile(r'"([^"\n]{3,200}+)"(?=\s{0,16}+[,:])')


def _find(view: TextView) -> Iterator[Span]:
    for found in _KEY.finditer(view.text):
        yield found.span(1)


DETECTOR: Final = Detector(
    reason="quoted_key", hard=False, sign=signs.QUOTED_KEY, gate=needs_any('"'), find=_find
)
