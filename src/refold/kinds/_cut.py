"""Cutting a long stretch of text at the most natural places near a given length."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

from refold.kinds.base import LONG

_PLACES: Final = (
    *("\n", "\\n", "}, ", "},", "], "),  # records, and line breaks written as escapes
    *(". ", "。", "！", "？", "! ", "? "),  # sentences
    *("; ", ", ", "，", "、", ";", ",", " ", "&", "/"),
)
"""Where to cut, best first; the cut comes right after."""

_JOINERS: Final = "\u200d\ufe0e\ufe0f"
_LONGEST_CLUSTER: Final = 12
# Not spelled as literals: mypyc has no lone surrogates in those.
_FIRST_LOW_HALF, _LAST_LOW_HALF = chr(0xDC00), chr(0xDFFF)


def cut_ends(text: str, start: int, end: int, size: int = LONG) -> Iterator[int]:
    """Yield where the pieces of `text[start:end]` end; none is longer than *size*."""
    while end - start > size:
        start = _place(text, start, start + size)
        yield start
    if start < end:
        yield end


def _place(text: str, start: int, stop: int) -> int:
    """Return the best place to cut in the second half of `text[start:stop]`, else its end."""
    low = (start + stop) // 2
    for place in _PLACES:
        found = text.rfind(place, low, stop)
        if found >= 0:
            return found + len(place)
    return _between_clusters(text, low, stop)


def _between_clusters(text: str, low: int, stop: int) -> int:
    """Move *stop* back while it would part a letter from its marks, or the halves of a pair."""
    at = stop
    while at > low and stop - at < _LONGEST_CLUSTER and _belongs_together(text, at):
        at -= 1
    return at if at > low and stop - at < _LONGEST_CLUSTER else stop


def _belongs_together(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return False
    return (
        after in _JOINERS
        or before == "\u200d"
        or unicodedata.combining(after) != 0
        or _FIRST_LOW_HALF <= after <= _LAST_LOW_HALF
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff")
    )
