"""Sees the set phrases in which programs report failure."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors._vocabulary import FAILURE
from refold.detectors.base import Detector, needs_word, pattern_finder

_PHRASES: Final = (
    "execution failed",
    "authentication failed",
    "authentication error",
    "authorization failed",
    "authorization denied",
    "connection refused",
    "connection timeout",
    "connection timed out",
    "permission denied",
)
_PATTERN: Final = re.compile(rf"\b(?:{'|'.join(_PHRASES)})\b", re.IGNORECASE)

DETECTOR: Final = Detector(
    reason="failure_signature",
    hard=True,
    sign=signs.FAILURE_SIGNATURE,
    gate=needs_word(FAILURE),
    find=pattern_finder(_PATTERN),
)
