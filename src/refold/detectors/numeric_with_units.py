"""Sees measures: a number and its unit, 5km, 3.14 GHz, 20 °C."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

_MEASURE: Final = re.compile(
    r"(?<![\w.,])[0-9]++(?:\.[0-9]++)?+[ \t\u00a0\u202f]?"
    r"(?i:km|kg|ms|[µμ]s|ns|mhz|ghz|hz|mb|gb|tb|°c|°f|m|s)(?!\w)",
    re.ASCII,
)
# In the outline of a text: a number, from its first digit on, and what may be its unit.
_NEAR_UNIT: Final = re.compile(rb"0(?<![0.,]0)0*+(?:\.0++)?+ ?[u?]")


def _find(view: TextView) -> Iterator[Span]:
    for near in _NEAR_UNIT.finditer(view.outline):
        found = _MEASURE.match(view.text, near.start())
        if found is not None:
            yield found.span()


DETECTOR: Final = Detector(
    reason="numeric_with_units",
    hard=False,
    needs=Needs(shapes="[0-9][ \t\u00a0\u202f]?[kmnghtsKMNGHTSµμ°]"),
    find=_find,
)
