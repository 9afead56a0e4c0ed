"""A text as a reader takes it in: look-alike letters, invisible ones and case made equal."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

INVISIBLE: Final = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that nobody sees, or that change the order in which others are seen."""
_LOOK_ALIKES: Final = str.maketrans(
    "авсԁеһіјӏорԛѕѵхуԝүкмнтгьαβενορτυχικɑɡı",
    "abcdehijlopqsvxywykmhtrbabevoptuxikagi",
)
"""Small letters of other alphabets, and the Latin ones that they are taken for."""
MIXED: Final = re.compile(
    r"(?<![^\W\d_])(?=[^\W\d_]*?[a-z\u00df-\u024f])(?=[^\W\d_]*?[\u0370-\u058f])[^\W\d_]++"
)
"""Words in small letters of two alphabets that look alike. (Scripts without blanks stand right
beside Latin words; they are not among these.)"""
_ALPHABETS: Final = re.compile(r"[\u0370-\u058f]")


def read(text: str) -> str:
    """Return *text* as it reads: without invisible letters, in small Latin ones, lines kept."""
    plain = INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold()
    plain = re.sub(r"[^\S\n]+", " ", plain).replace("’", "'")
    if _ALPHABETS.search(plain):
        return MIXED.sub(lambda word: word[0].translate(_LOOK_ALIKES), plain)
    return plain
