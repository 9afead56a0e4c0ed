"""Sees words that bind: shall, may not, notwithstanding, whereas, hereby."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors._vocabulary import LEGAL
from refold.detectors.base import Detector, needs_word, pattern_finder

_TERMS: Final = ("shall", "may not", "notwithstanding", "whereas", "hereby")
_PATTERN: Final = re.compile(rf"\b(?:{'|'.join(_TERMS)})\b", re.IGNORECASE)

DETECTOR: Final = Detector(
    reason="legal_term",
    hard=False,
    sign=signs.LEGAL_TERM,
    gate=needs_word(LEGAL),
    find=pattern_finder(_PATTERN),
)
