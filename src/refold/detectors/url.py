"""Sees web addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.patterns import WEB_ADDRESS
from refold.scan.prefilter import Needs
from refold.scan.urls import trim_url
from refold.scan.view import TextView


def _find(view: TextView) -> Iterator[Span]:
    for found in WEB_ADDRESS.finditer(view.text):
        yield found.start(), found.start() + len(trim_url(found[0]))


DETECTOR: Final = Detector(reason="url", hard=False, needs=Needs(shapes="://"), find=_find)
