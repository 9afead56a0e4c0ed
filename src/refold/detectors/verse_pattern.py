"""Sees verse: three or more lines in a row that start with a capital and end no sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs
from refold.scan.view import TextView

_CAPITAL: Final = "[A-ZÀ-ÖØ-ÞΑ-ΩА-ЯЁ]"
# Four words a line, at least one of them in lower case: items of an agenda are short or titles.
# Three will do if they say what something is, which no item does.
_LINE: Final = (
    rf"{_CAPITAL}(?=[^\n]*?[ \t][a-zß-öø-ÿα-ωа-яё])"
    r"[^\s.!?。！？]*+(?:(?:[ \t]++[^\s.!?。！？]++){3,}+"
    r"|[ \t]++(?:is|are|was|were|am)[ \t]++[^\s.!?。！？]++)[ \t\r]*+"
)
_STANZA: Final = re.compile(rf"^{_LINE}(?:\n{_LINE}(?=\n|\Z)){{2,}}+", re.MULTILINE)

# The second and the third line of a stanza, as far as can be told quickly.
_TWO_LINES: Final = re.compile(rf"\n{_CAPITAL}[^\n.!?。！？]*+\n{_CAPITAL}")


def _find(view: TextView) -> Iterator[Span]:
    if _TWO_LINES.search(view.text) is not None:
        for stanza in _STANZA.finditer(view.text):
            yield stanza.span()


DETECTOR: Final = Detector(
    reason="verse_pattern",
    hard=True,
    needs=Needs(shapes=rf"\n{_CAPITAL}"),
    find=_find,
)
