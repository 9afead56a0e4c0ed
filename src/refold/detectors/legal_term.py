"""Sees words that bind: shall, may not, notwithstanding, whereas, hereby."""

from __future__ import annotations

from typing import Final

from refold.detectors.base import Detector, first_words, phrase_finder

_TERMS: Final = ("shall", "may not", "notwithstanding", "whereas", "hereby")

DETECTOR: Final = Detector(
    reason="legal_term", hard=False, needs=first_words(_TERMS), find=phrase_finder(_TERMS)
)
