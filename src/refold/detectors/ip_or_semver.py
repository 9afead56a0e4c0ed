"""Sees numbers with points between: addresses, versions, decimals."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors.base import Detector, needs_outline, pattern_finder

# The boundary is checked after the first digit, so that `re` can skip to the next digit fast.
_DOTTED: Final = re.compile(r"[0-9](?<![\w,].)[0-9]*+(?:\.[0-9]++){1,5}(?!\w)", re.ASCII)

DETECTOR: Final = Detector(
    reason="ip_or_semver",
    hard=False,
    sign=signs.IP_OR_SEMVER,
    gate=needs_outline(rb"0\.0"),
    find=pattern_finder(_DOTTED),
)
