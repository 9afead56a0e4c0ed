"""Sees versions: v1.2, v1.2.3-rc1, "version 3"."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors.base import Detector, pattern_finder
from refold.scan.prefilter import Needs, words_of

# The boundary is checked after the first letter, so that `re` can skip to the next "v" fast.
_VERSION: Final = re.compile(
    r"[vV](?<!\w.)(?:[0-9]{1,9}+(?:\.[0-9]{1,9}+){1,3}+|(?i:ersion)\s{1,3}+[0-9]{1,9}+(?:\.[0-9]{1,9}+){0,3}+)"
    r"(?:-(?:alpha|beta|rc|dev|pre)[.0-9]{0,9}+(?<!\.))?(?!\w)",
    re.ASCII,
)

DETECTOR: Final = Detector(
    reason="version_number",
    hard=False,
    needs=Needs(shapes="[vV][0-9]", words=words_of("version")),
    find=pattern_finder(_VERSION),
)
