"""Sees quoted names that head a value or stand in a list: "timeout": 30."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

_KEY: Final = re.compile(r'"([^"\n]{3,200}+)"(?=\s{0,16}+[,:])')


def _find(view: TextView) -> Iterator[Span]:
    for found in _KEY.finditer(view.text):
        yield found.span(1)


DETECTOR: Final = Detector(reason="quoted_key", hard=False, needs=Needs(shapes='"'), find=_find)
