"""Sees versions: v1.2, v1.2.3-rc1, "version 3"."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors._vocabulary import VERSION
from refold.detectors.base import Detector, needs_outline, needs_word, pattern_finder
from refold.text.view import TextView

# The boundary is checked after the first letter, so that `re` can skip to the next "v" fast.
_VERSION: Final = re.compile(
    r"[vV](?<!\w.)(?:[0-9]{1,9}+(?:\.[0-9]{1,9}+){1,3}+|(?i:ersion)\s{1,3}+[0-9]{1,9}+(?:\.[0-9]{1,9}+){0,3}+)"
    r"(?:-(?:alpha|beta|rc|dev|pre)[.0-9]{0,9}+(?<!\.))?(?!\w)",
    re.ASCII,
)

_has_number: Final = needs_outline(b"v0")
_has_word: Final = needs_word(VERSION)


def _may_see(view: TextView) -> bool:
    return _has_number(view) or _has_word(view)


DETECTOR: Final = Detector(
    reason="version_number",
    hard=False,
    sign=signs.VERSION_NUMBER,
    gate=_may_see,
    find=pattern_finder(_VERSION),
)
