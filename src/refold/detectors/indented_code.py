"""Sees code by its indent: two lines in a row that start with four spaces or a tab."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors.base import Detector, needs_any, pattern_finder

_TWO_LINES: Final = re.compile(
    r"^(?: {4}|\t)[ \t]*+[^\s][^\n]*+(?:\n(?: {4}|\t)[ \t]*+[^\s][^\n]*+)++", re.MULTILINE
)

# The second line comes after a line feed, so the needles hold for the first line of a text too.
DETECTOR: Final = Detector(
    reason="indented_code",
    hard=True,
    find=pattern_finder(_TWO_LINES),
    gate=needs_any("\n    ", "\n\t"),
)
