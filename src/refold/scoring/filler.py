"""Sentences that only fill: greetings, thanks, announcements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Final

from refold.text.scan import undisguised

FILLER_PENALTY: Final = -10
"""The contract's: more than names and figures can make up for in a sentence of usual length."""
FILLERS: Final = (
    *("great", "sure", "okay", "ok", "thanks", "thank you", "got it", "right", "alright"),
    *("absolutely", "exactly", "indeed", "cool", "nice", "perfect", "wonderful", "awesome"),
    *("fantastic", "sounds good", "makes sense", "i see", "i understand", "understood", "noted"),
    *("certainly", "of course", "no problem", "no worries", "will do", "let me", "i'll", "i can"),
    *("i would", "well", "so", "now", "hi", "hey", "hello", "dear all", "good morning"),
    *("good afternoon", "good evening", "good day"),
)


def _by_first_letter(words: tuple[str, ...]) -> str:
    """Spell a pattern for any of *words* that reads the first letter only once."""
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in rests.items())


_FILLER: Final = re.compile(rf"(?:{_by_first_letter(FILLERS)})(?=[,.!?\s])")
"""In lower case, where the pattern is tried much faster than in any."""
_LONGEST: Final = max(map(len, FILLERS)) + 1
# Starting with a character set lets `re` skip all other text fast.
_NEGATION: Final = re.compile(
    r"[ncwNCW](?<!\w.)(?i:(?<=n)(?:o(?:t|ne|thing|body|r)?|ever|either)|(?<=c)annot|(?<=w)ithout)"
    r"(?!\w)|[nN](?<=\w.)['’][tT](?!\w)"
)
NEGATIONS: Final = tuple("no not none nothing nobody nor never neither cannot without".split())
"""The words that negate; so does n't at the end of another."""
_NEGATING: Final = ("no", "never", "neither", "without", "n't")
"""One of these is in every negation that is in ASCII."""
_OTHER_CASES: Final = {"i": "\u0130\u0131", "k": "\u212a", "s": "\u017f"}
"""The characters beyond ASCII that are the same letter where case is ignored."""


def _cases(letter: str) -> str:
    return letter + letter.upper() + _OTHER_CASES.get(letter, "")


def _heads(filler: str) -> Iterator[str]:
    """Yield the first three characters of all sentences that open with a *filler*."""
    firsts = list(product(*map(_cases, filler[:3])))
    ends = _AFTER_FILLER if len(filler) < 3 else ("",)
    return ("".join(head) + end for head in firsts for end in ends)


_AFTER_FILLER: Final = (*",.!?", *filter(str.isspace, map(chr, range(0x3001))))
FILLER_HEADS: Final = frozenset(head for filler in FILLERS for head in _heads(filler))
"""The three characters with which each filler begins: no other sentence need be looked at."""


def is_filler(text: str, start: int, end: int) -> bool:
    """Tell whether a sentence opens as filler does; a negation or an answer is never filler."""
    sentence = text[start:end]
    opening = sentence[:_LONGEST]
    plain = opening if opening.isascii() else undisguised(opening)
    if _FILLER.match(plain.lower()) is None:
        return False
    return not _may_negate(sentence) or _NEGATION.search(text, start, end) is None


def _may_negate(sentence: str) -> bool:
    """Tell at little cost whether there can be a negation; beyond ASCII only the pattern can."""
    lower = sentence.lower()
    for letters in _NEGATING:
        if letters in lower:
            return True
    return not sentence.isascii()
