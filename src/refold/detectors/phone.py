"""Sees telephone numbers of the form 3-3-4, with or without a country code."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors.base import Detector, pattern_finder
from refold.scan.prefilter import Needs

# What may not stand before is checked after the first character: a pattern that starts with a
# character set lets `re` skip all other text fast.
_PHONE: Final = re.compile(
    r"[+(0-9](?<![\w+].)"
    r"(?:(?<=\+)[0-9]{1,3}[-. \u00a0]?\(?[0-9]{3}|(?<=\()[0-9]{3}|(?<=[0-9])[0-9]{2})"
    r"\)?[-. \u00a0]?[0-9]{3}[-. \u00a0]?[0-9]{4}(?!\w)",
    re.ASCII,
)

DETECTOR: Final = Detector(
    reason="phone",
    hard=False,
    needs=Needs(shapes="[0-9]{3}[-. \u00a0]?[0-9]{4}"),
    find=pattern_finder(_PHONE),
)
