"""Sees the set phrases in which programs report failure."""

from __future__ import annotations

from typing import Final

from refold.detectors.base import Detector, first_words, phrase_finder

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

DETECTOR: Final = Detector(
    reason="failure_signature",
    hard=True,
    needs=first_words(_PHRASES),
    find=phrase_finder(_PHRASES),
)
