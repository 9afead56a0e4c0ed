"""Finding names word by word: the fastest way where nothing is compiled.

Nearly every kind of name lies inside one word, and most words come again, so a text is cut at white
space and each distinct word is looked at once. Many new words have the shape of an earlier one, and
words of one shape have their names in the same places. Only what reaches over several words is
searched for in the text itself.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

from refold.text.name_patterns import (
    ADDRESS_KIND,
    ASCII_PROPER_NAME,
    ASCII_QUANTITY,
    ASCII_UNITS,
    CONSONANTS,
    IDENTIFIER,
    KIND_COUNT,
    PATH,
    PATH_KIND,
    PROPER_KIND,
    PROPER_NAME,
    QUANTITY,
    QUANTITY_KIND,
    SHORT,
    SHORT_KIND,
    STARTERS,
    TITLE_KIND,
    VERSION,
    VERSION_KIND,
    addresses_and_titles,
)

_Spans = tuple[tuple[int, int, int], ...]
"""Where names are in a word: the number of its kind, start and end of each.

A quantity without text says that the word ends in a number: its unit may be the next word.
"""
_Named = tuple[str, _Spans]
"""A word and where names are in it."""

_DIGITS: Final = "0123456789"
_ALIKE: Final = ("aeiouy", CONSONANTS, "AEIOUY", CONSONANTS.upper(), _DIGITS, *"v_./-,%'")
"""The ASCII characters that matter to the patterns; those in one string matter alike.

Only the letters of units do not: they are looked at in the end.
"""
_MAX_KNOWN: Final = 50_000
"""Words remembered at a time."""
_LONG_WORD: Final = 60
"""Words longer than this hardly come again and are not remembered."""


def _shape_table() -> bytes:
    """Map all characters that are alike to one of them."""
    table = bytearray(b"*" * 256)
    for alike in _ALIKE:
        for char in alike:
            table[ord(char)] = ord(alike[0])
    return bytes(table)


_SHAPES: Final = _shape_table()


class _KnownShapes(dict[bytes, _Spans]):
    """Where names are in words of each shape; looked up, a new shape is looked at."""

    def __missing__(self, shape: bytes) -> _Spans:
        spans = _find_spans(shape.decode(), ASCII_QUANTITY)
        if len(shape) <= _LONG_WORD:
            self[shape] = spans
        return spans


class _KnownWords(dict[str, _Named | None]):
    """Where names are in each word, if there are any; looked up, a new word is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes = _KnownShapes()

    def __missing__(self, word: str) -> _Named | None:
        if word.isascii():
            spans = self.shapes[word.encode().translate(_SHAPES)]
        else:
            spans = _find_spans(word, QUANTITY)
        named = (word, spans) if spans else None
        if len(word) <= _LONG_WORD:
            self[word] = named
        return named


class WordNames:
    """Finds the names in texts, and remembers where they are in each word."""

    def __init__(self) -> None:
        self._known = _KnownWords()

    def find(self, text: str, /) -> tuple[str, ...]:
        """Return every name in *text* once, kind by kind, in reading order."""
        known = self._known
        if len(known) > _MAX_KNOWN:
            known.clear()
            known.shapes.clear()
        kinds: list[list[str]] = [[] for _ in range(KIND_COUNT)]
        for word, spans in filter(None, map(known.__getitem__, text.split())):
            for kind, start, end in spans:
                kinds[kind].append(word[start:end])
        kinds[PROPER_KIND] = _proper_names(text)
        if kinds[QUANTITY_KIND]:
            kinds[QUANTITY_KIND] = _quantities(text, kinds[QUANTITY_KIND])
        kinds[ADDRESS_KIND], kinds[TITLE_KIND] = addresses_and_titles(text)
        return tuple(dict.fromkeys(chain.from_iterable(kinds)))

    def trace(
        self,
        said: list[tuple[str, ...]],
        said_in: list[int],
        shown: list[tuple[str, ...]],
        shown_in: list[int],
        /,
    ) -> tuple[int, int, int]:
        """Count the names *said*, those of them *shown*, and those shown where first said."""
        introduced: dict[str, int] = {}
        for number in range(len(said) - 1, -1, -1):  # backwards, so that the first mention stands
            introduced.update(dict.fromkeys(said[number], said_in[number]))
        in_use: set[str] = set()
        in_place: set[str] = set()
        for names, place in zip(shown, shown_in, strict=True):
            for name in names:
                first = introduced.get(name)
                if first is not None:
                    in_use.add(name)
                    if first == place:
                        in_place.add(name)
        return len(introduced), len(in_use), len(in_place)


def _proper_names(text: str) -> list[str]:
    pattern = ASCII_PROPER_NAME if text.isascii() else PROPER_NAME
    return [
        name
        for name, more in pattern.findall(text)
        if name not in STARTERS and not more and not (" " in name and _begins_sentence(name))
    ]


def _begins_sentence(name: str) -> bool:
    return name[: name.index(" ")] in STARTERS


def _quantities(text: str, in_words: list[str]) -> list[str]:
    """Return the quantities in *text*: those *in_words*, unless a number is without its unit."""
    found = in_words
    if "" in in_words:
        found = (ASCII_QUANTITY if text.isascii() else QUANTITY).findall(text)
    return [name for name in found if not name.isascii() or _has_unit(name)]


def _has_unit(quantity: str) -> bool:
    return quantity.lstrip("0123456789., ").lower() in ASCII_UNITS


def _find_spans(word: str, quantity: re.Pattern[str]) -> _Spans:
    """Find where names are in one *word*, or in all words of that shape."""
    found: list[tuple[int, int, int]] = []
    if "_" in word or word != word.lower():
        for match in IDENTIFIER.finditer(word):
            found.append((match.lastindex or 0, match.start(), match.end()))
    _add_all(found, SHORT_KIND, SHORT, word)
    _add_all(found, QUANTITY_KIND, quantity, word)
    if word[-1] in _DIGITS:
        found.append((QUANTITY_KIND, 0, 0))
    if "." in word:
        _add_all(found, PATH_KIND, PATH, word)
        _add_all(found, VERSION_KIND, VERSION, word)
    return tuple(found)


def _add_all(
    found: list[tuple[int, int, int]], kind: int, pattern: re.Pattern[str], word: str
) -> None:
    """Add whatever *pattern* finds; most find nothing, which `search` says faster than others."""
    match = pattern.search(word)
    while match is not None:
        start, end = match.span()
        found.append((kind, start, end))
        match = pattern.search(word, end)
