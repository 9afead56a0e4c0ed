"""Refuses an answer with letters that cannot be seen, or of an alphabet that its source lacks."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from refold.llm.gates.base import INVISIBLE, MIXED, Gate, Refusal, Source

_REORDERING: Final = re.compile(r"[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""These show a text in another order than it has, or hide one: no summary needs them."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
_WHITE: Final = frozenset("\n\t\r")
_ASIAN: Final = re.compile(r"CJK|HIRAGANA|KATAKANA|IDEOGRAPHIC|HANGUL|BOPOMOFO|HALFWIDTH|FULLWIDTH")
_SIGNS: Final = frozenset({"FEMININE", "MASCULINE", "MICRO", "OHM", "KELVIN", "ANGSTROM"})
_MORE_LATIN: Final = range(0x1E00, 0x1F00)


def _check(source: Source, answer: str) -> Refusal | None:
    reordering = _REORDERING.search(answer)
    if reordering is not None:
        return _refuse("a character that hides or reorders text", reordering[0])
    new = set(answer) - set(source.text)
    for char in sorted(new):
        if INVISIBLE.match(char) or (unicodedata.category(char) in _UNSEEN and char not in _WHITE):
            return _refuse("a character that cannot be seen", char)
    if any(char > "\u024f" for char in new):
        known = {_script(char) for char in source.text if char.isalpha()}
        for char in sorted(new):
            if char.isalpha() and (script := _script(char)) not in known and script != "LATIN":
                return _refuse("a letter of an alphabet that the source does not use", char)
    said = MIXED.findall(answer.casefold())
    if said:
        known = set(MIXED.findall(source.text.casefold()))
        for word in said:
            if word not in known:
                return Refusal(f"{word!r} mixes letters of two alphabets")
    return None


def _refuse(what: str, char: str) -> Refusal:
    return Refusal(f"it has {what}: U+{ord(char):04X}")


def _script(char: str) -> str:
    """Name the script of a letter; letters made to look like Latin ones are none of them."""
    if char < "\u0250":
        return "LATIN"
    name = unicodedata.name(char, "?")
    if _ASIAN.match(name):
        return "FULLWIDTH LATIN" if name.startswith("FULLWIDTH LATIN") else "ASIAN"
    first = name.partition(" ")[0]
    if first == "LATIN" and ord(char) not in _MORE_LATIN:
        return "PHONETIC"
    return "LATIN" if first in _SIGNS else first


GATE: Final = Gate("plain_characters", _check)
