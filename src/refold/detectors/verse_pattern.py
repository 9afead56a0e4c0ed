"""Sees verse: three or more lines in a row that start with a capital and end no sentence."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors.base import Detector, pattern_finder

# Four words a line, at least one of them in lower case: items of an agenda are short or titles.
_LINE: Final = (
    r"[A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ](?=[^\n]*?[ \t][a-zß-öø-ÿα-ωа-яё])"
    r"[^\s.!?。！？]*+(?:[ \t]++[^\s.!?。！？]++){3,}+[ \t\r]*+"
)
_STANZA: Final = re.compile(rf"^{_LINE}(?:\n{_LINE}(?=\n|\Z)){{2,}}+", re.MULTILINE)

DETECTOR: Final = Detector(reason="verse_pattern", hard=True, find=pattern_finder(_STANZA, "\n"))
