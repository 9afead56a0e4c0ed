"""Sees verse: three or more lines in a row that start with a capital and end no sentence."""

from __future__ import annotations

import re
from typing import Final

from refold.detectors import _signs as signs
from refold.detectors.base import Detector, pattern_finder
from refold.text.view import TextView

# Four words a line, at least one of them in lower case: items of an agenda are short or titles.
# Three will do if they say what something is, which no item does.
_LINE: Final = (
    r"[A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ](?=[^\n]*?[ \t][a-zß-öø-ÿα-ωа-яё])"
    r"[^\s.!?。！？]*+(?:(?:[ \t]++[^\s.!?。！？]++){3,}+"
    r"|[ \t]++(?:is|are|was|were|am)[ \t]++[^\s.!?。！？]++)[ \t\r]*+"
)
_STANZA: Final = re.compile(rf"^{_LINE}(?:\n{_LINE}(?=\n|\Z)){{2,}}+", re.MULTILINE)

# The second and the third line of a stanza, as far as can be told quickly.
_TWO_LINES: Final = re.compile(r"\n[A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ][^\n.!?。！？]*+\n[A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ]")


def _may_see(view: TextView) -> bool:
    return _TWO_LINES.search(view.text) is not None


DETECTOR: Final = Detector(
    reason="verse_pattern",
    hard=True,
    sign=signs.VERSE_PATTERN,
    gate=_may_see,
    find=pattern_finder(_STANZA),
)
