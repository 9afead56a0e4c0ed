"""Sees bank accounts: an IBAN, grouped or not, whose length and check digits are right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.patterns import IBAN_START, find_ibans
from refold.scan.prefilter import Needs
from refold.scan.view import TextView


def _find(view: TextView) -> Iterator[Span]:
    return find_ibans(view.text)


DETECTOR: Final = Detector(reason="iban", hard=True, needs=Needs(shapes=IBAN_START), find=_find)
