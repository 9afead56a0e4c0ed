"""Texts as they may be sent: cut between visible characters, without half a character."""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_FLAG_FIRST, _FLAG_LAST = "\U0001f1e6", "\U0001f1ff"
_MODIFIER_FIRST, _MODIFIER_LAST = "\U0001f3fb", "\U0001f3ff"
_HIGH_FIRST, _LOW_FIRST, _LOW_LAST = chr(0xD800), chr(0xDC00), chr(0xDFFF)
"""The two halves of what UTF-16 spells as a pair."""
_TAG_FIRST, _TAG_LAST = "\U000e0020", "\U000e007f"
"""The letters after a black flag that make it the flag of a region."""
_JOINED_BEHIND = "\u0e33\u0eb3\u200c\uff9e\uff9f"
"""No marks to Unicode, but part of the character before them: a Thai and a Lao vowel, the
non-joiner, and the half-width voicing marks of Japanese."""
_VIRAMA_CLASS = 9
"""The combining class of the signs that join a consonant to the next one in Indic scripts."""
_LONGEST_CLUSTER = 64
"""Marks stacked higher than this are cut anyway, so that the search stays short."""


def cut(text: str, limit: int) -> str:
    """Return at most *limit* characters of *text*, ending between two visible characters."""
    if len(text) <= limit:
        return text
    end = max(limit, 0)
    lowest = max(end - _LONGEST_CLUSTER, 0)
    while end > lowest and _is_inside(text, end):
        end -= 1
    is_stuck = end == lowest > 0
    return text[: max(limit, 0)] if is_stuck else text[:end]


def cut_words(text: str, limit: int) -> str:
    """Return at most *limit* characters of *text*, ending between two words if one is near."""
    short = cut(text, limit)
    if len(short) == len(text) or text[len(short)].isspace():
        return short.rstrip()
    space = max(short.rfind(" "), short.rfind("\n"))
    return (short[:space] if space > len(short) * 2 // 3 else short).rstrip()


def _is_inside(text: str, place: int) -> bool:
    """Tell whether the gap before `text[place]` lies inside one visible character."""
    after, before = text[place], text[place - 1]
    if _JOINER in (after, before):
        return True
    if unicodedata.category(after)[0] == "M" or _MODIFIER_FIRST <= after <= _MODIFIER_LAST:
        return True
    if _TAG_FIRST <= after <= _TAG_LAST or after in _JOINED_BEHIND:
        return True
    if unicodedata.combining(before) == _VIRAMA_CLASS and after.isalpha():
        return True
    if _is_inside_syllable(before, after):
        return True
    if _LOW_FIRST <= after <= _LOW_LAST and _HIGH_FIRST <= before < _LOW_FIRST:
        return True
    if _FLAG_FIRST <= after <= _FLAG_LAST and _FLAG_FIRST <= before <= _FLAG_LAST:
        return _flags_before(text, place) % 2 == 1
    return before == "\r" and after == "\n"


def _is_inside_syllable(before: str, after: str) -> bool:
    """Tell whether both belong to one Korean syllable that is spelled letter by letter."""
    if "\u1160" <= after <= "\u11ff" or "\ud7b0" <= after <= "\ud7fb":
        return True  # a vowel or a final consonant
    is_initial = "\u1100" <= before <= "\u115f" or "\ua960" <= before <= "\ua97c"
    return is_initial and ("\u1100" <= after <= "\u115f" or "\uac00" <= after <= "\ud7a3")


def _flags_before(text: str, place: int) -> int:
    """Count the flag letters in a row before *place*: they pair up from the left."""
    count = 0
    while count < place and _FLAG_FIRST <= text[place - 1 - count] <= _FLAG_LAST:
        count += 1
    return count


def encodable(text: str) -> str:
    """Replace lone surrogates: no provider's JSON can carry them."""
    return text.encode("utf-8", "replace").decode()
