"""Sees measures: a number and its unit, 5km, 3.14 GHz, 20 °C."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors.base import Detector, needs_outline, pattern_finder

# The boundary is checked after the first digit, so that `re` can skip to the next digit fast.
_MEASURE: Final = re.compile(
    r"[0-9](?<![\w.,].)[0-9]*+(?:\.[0-9]++)?+[ \t\u00a0\u202f]?(?=[kKmMµμnNgGtThHsS°])"
    r"(?i:km|kg|ms|[µμ]s|ns|mhz|ghz|hz|mb|gb|tb|°c|°f|m|s)(?!\w)",
    re.ASCII,
)

DETECTOR: Final = Detector(
    reason="numeric_with_units",
    hard=False,
    find=pattern_finder(_MEASURE),
    gate=needs_outline(b"0u", b"0 u", b"0?", b"0 ?"),
)
