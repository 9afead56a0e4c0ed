"""Sees the stack of a crash: Python tracebacks, frames of Java and JavaScript."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors.base import Detector, pattern_finder

_NEEDLES: Final = (
    "Traceback (most recent call last)",
    "Exception in thread",
    "  at ",
    "\tat ",
    "\n at ",
)
_HEAD_OR_FRAME: Final = re.compile(
    r"^(?:[ \t|+>]{0,40}+(?:Traceback \(most recent call last\)|Exception in thread\b)"
    r"|[ \t]++at (?:[A-Za-z0-9_][A-Za-z0-9_$.]*+\("
    r"|[^\s(][^\n(]{0,200}+\([^\n():]{0,400}+:(?:[^\n():]{0,400}+:)?[0-9]++(?::[0-9]++)?\)))",
    re.MULTILINE,
)

DETECTOR: Final = Detector(
    reason="error_traceback", hard=True, find=pattern_finder(_HEAD_OR_FRAME, *_NEEDLES)
)
