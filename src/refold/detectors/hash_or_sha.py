"""Sees hashes: 40 or more hexadecimal digits in a row."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors.base import Detector, pattern_finder
from refold.scan.prefilter import Needs

_MIN_DIGITS: Final = 40
"""Of a SHA-1; what is shorter may be a number or a word."""
# A run can only be entered at its start, so each is read once. Longer runs than the 64 digits of
# SHA-256 count too (SHA-512 has 128), and are given whole: half a hash is no hash.
_HASH: Final = re.compile(rf"[0-9a-fA-F](?<![0-9a-fA-F].)[0-9a-fA-F]{{{_MIN_DIGITS - 1},}}+")


DETECTOR: Final = Detector(
    reason="hash_or_sha",
    hard=False,
    needs=Needs(shapes="[A-Za-z0-9+/]{40}"),
    find=pattern_finder(_HASH),
)
