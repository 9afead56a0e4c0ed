"""Sees numbers with points between: addresses, versions, decimals."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors.base import Detector, pattern_finder
from refold.scan.prefilter import Needs

# The boundary is checked after the first digit, so that `re` can skip to the next digit fast.
_DOTTED: Final = re.compile(r"[0-9](?<![\w,].)[0-9]*+(?:\.[0-9]++){1,5}(?!\w)", re.ASCII)

DETECTOR: Final = Detector(
    reason="ip_or_semver",
    hard=False,
    needs=Needs(shapes=r"[0-9]\.[0-9]"),
    find=pattern_finder(_DOTTED),
)
