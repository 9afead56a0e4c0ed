"""Cutting a long stretch of text at the most natural places near a given length."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

from refold.kinds.base import LONG

_PLACES: Final = (
    *("\n", "}, ", "},", "], ", "|"),  # records, and cells of a row
    *(". ", "。", "！", "？", "! ", "? "),  # sentences
    *("; ", ", ", "，", "、", ";", ",", " ", "&", "/"),
)
"""Where to cut, best first; the cut comes right after."""

_JOINERS: Final = "\u200d\ufe0e\ufe0f"
_IDEOGRAPHS: Final = "\u2e80"
"""The first character of the East Asian scripts, which have no blanks between words."""
_FIRST_LOW_HALF, _LAST_LOW_HALF = chr(0xDC00), chr(0xDFFF)


def cut_ends(text: str, start: int, end: int, size: int = LONG) -> Iterator[int]:
    """Yield where the pieces of `text[start:end]` end.

    None is longer than *size*, but where a word is.
    """
    while end - start > size:
        start = _place(text, start, start + size, end)
        yield start
    if start < end:
        yield end


def _place(text: str, start: int, stop: int, end: int) -> int:
    """Return the best place to cut in the second half of `text[start:stop]`, else its end."""
    low = (start + stop) // 2
    for place in _PLACES:
        found = text.rfind(place, low, stop)
        if found >= 0:
            return found + len(place)
    return _between_words(text, low, stop, end)


def _between_words(text: str, low: int, stop: int, end: int) -> int:
    """Return the last place in `text[low:stop]` that is in no word, else the first one behind.

    Scripts without blanks have words everywhere; what stands for one letter stays together.
    """
    at = stop
    while at > low and _is_in_word(text, at):
        at -= 1
    if at > low:
        return at
    at = stop
    while at < end and _is_in_word(text, at):
        at += 1
    return at


def _is_in_word(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before.isalnum() and after.isalnum() and before < _IDEOGRAPHS and after < _IDEOGRAPHS:
        return True
    return _belongs_together(text, at)


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
