"""The words and values of a text, and the shape of each: what a later turn may come back to."""

from __future__ import annotations

from enum import IntEnum
from operator import add
from typing import Final

from refold.lazy import regex
from refold.scan.patterns import HAN, HANGUL, KANA

# Connectors and word characters are disjoint, so there is one way to match; a run of signs is only
# looked at from its beginning, so that rows of dots or slashes take linear time.
_BEFORE: Final = "#$@~./"
_WITHIN: Final = "./@+-"
_ITEM: Final = regex(rf"(?:(?<![{_BEFORE}])[{_BEFORE}]++)?+\w++(?:[{_WITHIN}]++\w++)*+")
_BETWEEN: Final = "!\"%&'()*,:;<=>?[\\]^`{|}"
_STOP: Final = regex(r"\.(?=[ \n])")
"""A full stop is part of an item only if more of it follows."""
_BLANKED: Final = bytes(ord(" ") if chr(byte) in _BETWEEN else byte for byte in range(256))
_UTF_8: Final = ("utf-8", "surrogatepass")
_CJK: Final = regex(f"[{KANA}{HAN}{HANGUL}]+")
_KANA: Final = regex(r"[\u3041-\u309f]")
# In Japanese the script shows where a word ends; hiragana is mostly grammar.
_JAPANESE: Final = regex(rf"[\u30a0-\u30ff]{{2,}}|[{HAN}々]{{2,}}")
_CAMEL: Final = regex(r"[a-z][A-Z]|[A-Z][a-z0-9]+[A-Z]")
_DIGIT: Final = regex(r"\d")
_LETTER: Final = regex(r"[^\W\d_]")
_MIN_WORD: Final = 3
_MAX_CHARS: Final = 120
"""Longer items mean nothing, nor do shorter words."""
_COMMON: Final = frozenset(
    "a an the and or but if then else of to in on at by for with from into as is are was were be "
    "been being it its this that these those i you he she we they me him her us them my your his "
    "our their what which who whom how when where why do does did done have has had having will "
    "would can could should may might must not no yes so than too very just also about over under "
    "again more most some any all each other only own same don now here there up down out off get "
    "got go going like well okay yeah let".split()
)
"""Words that mean nothing by themselves."""


class Shape(IntEnum):
    """What an item looks like; before `WORD` come the values."""

    PATH = 0
    EMAIL = 1
    ID = 2
    NUMBER = 3
    LONG_NUMBER = 4
    SMALL_NUMBER = 5
    DATE = 6
    DOTTED = 7
    SNAKE = 8
    CAMEL = 9
    MIXED = 10
    SHORT_MIXED = 11
    WORD = 12
    NAME = 13
    UPPER = 14
    CJK = 15
    NONE = 16
    """Too common or too short to mean anything."""


def part_words(text: str) -> str:
    """Return *text* with blanks for signs that are part of no item; no place moves.

    What stands between blanks can be looked at by itself, and the same words come again and again.
    """
    return _STOP.sub(" ", text.encode(*_UTF_8).translate(_BLANKED).decode(*_UTF_8))


def find_items(text: str) -> list[str]:
    """Return the items of *text* in reading order.

    Chinese and Korean, written without spaces between words, become pairs of characters; Japanese
    becomes runs of one script.
    """
    words = _ITEM.findall(text)
    if text.isascii():
        return words
    items: list[str] = []
    for item in words:
        runs = _CJK.findall(item)
        if not runs:
            items.append(item)
        elif runs[0] != item:
            items.extend(_CJK.sub(" ", item).split())
        for run in runs:
            if _KANA.search(run):
                items.extend(_JAPANESE.findall(run))
            else:
                items.extend(map(add, run, run[1:]) if len(run) > 1 else [run])
    return items


def shape_of(item: str) -> Shape:
    """Tell what *item* looks like."""
    if len(item) > _MAX_CHARS:
        return Shape.NONE
    if item.isascii() and item.isalpha():  # as most are
        return _shape_of_word(item)
    if item.isdecimal():
        return _shape_of_number(item)
    if not item.isascii() and _CJK.match(item):
        return Shape.CJK if len(item) > 1 else Shape.NONE
    if "@" in item and "." in item:
        return Shape.EMAIL
    if item.isalnum() and item.isascii():  # letters and digits
        return _shape_of_mixed(item)
    has_letter = _LETTER.search(item) is not None
    if "/" in item and has_letter:
        return Shape.PATH
    has_digit = _DIGIT.search(item) is not None
    if "/" in item:
        return Shape.NUMBER if has_digit else Shape.NONE
    if item[0] in "#$":
        return Shape.NONE if not has_digit else Shape.ID if item[0] == "#" else Shape.NUMBER
    if not has_letter:
        return _shape_of_number(item) if has_digit else Shape.NONE
    if "_" in item:
        return Shape.SNAKE
    if "." in item.lstrip("."):
        return Shape.DOTTED
    return _shape_of_mixed(item) if has_digit else _shape_of_word(item)


def _shape_of_mixed(item: str) -> Shape:
    return Shape.MIXED if len(item) > 4 else Shape.SHORT_MIXED


def _shape_of_number(item: str) -> Shape:
    if "-" in item and len(item) >= 8:
        return Shape.DATE
    if "." in item or 3 <= len(item) < 6:
        return Shape.NUMBER
    return Shape.LONG_NUMBER if len(item) >= 6 else Shape.SMALL_NUMBER


def _shape_of_word(item: str) -> Shape:
    if item.islower():  # as most are
        return Shape.WORD if len(item) >= _MIN_WORD and item not in _COMMON else Shape.NONE
    if _CAMEL.search(item):
        return Shape.CAMEL
    if len(item) < _MIN_WORD or item.lower() in _COMMON:
        return Shape.NONE
    if item[0].isupper():
        return Shape.UPPER if item.isupper() else Shape.NAME
    return Shape.WORD
