"""The names a text speaks of: people, identifiers, quantities, files, addresses.

Nearly every kind of name lies inside one word, and most words come again, so a text is cut at white
space and each distinct word is looked at once. Only what reaches over several words is searched for
in the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from refold.text.alphabet import IDEOGRAPHS, LOWER, UPPER
from refold.text.scan import Vocabulary
from refold.text.words import telling_words

CAMEL: Final = r"[a-z][a-z0-9]*+(?:[A-Z]++[a-z0-9]*+)++"
PASCAL: Final = r"[A-Z][a-z0-9]++(?:[A-Z]++[a-z0-9]*+)++"
SNAKE: Final = r"[a-z][a-z0-9]*+(?:_[a-z0-9]++)++|[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++"
VOWELLESS: Final = r"(?i:[bcdfghjklmnpqrstvwxz]{3,}+)"
NUMBER: Final = r"[0-9]++(?:[.,][0-9]++)*+"

_CONSONANTS: Final = "bcdfghjklmnpqrstvwxz"
PLAIN_WORD: Final = re.compile(
    r"[(\[{\"'*<-]*+"
    rf"(?P<core>(?:[A-Za-z]?[{_CONSONANTS}]*+[aeiouy]|[AEIOUY])[a-z]*+"
    rf"(?:-[{_CONSONANTS}]*+[aeiouy][a-z]*+)*+(?:'[a-z]{{1,2}})?+"
    r"|[A-Za-z][a-z]?|[A-Z]{2}|[&=—–|-]++)?+"
    r"[)\]}>\"'*`,;:.!?…-]*+"
)
"""Ordinary words, with punctuation around them: most of every text, and never a name."""
PLAIN_NUMBER: Final = re.compile(r"[0-9:/(),;\[\]#+-]*+(?:T[0-9:+-]++)?+Z?+")
"""Numbers, dates and times: no names by themselves."""

_UNITS: Final = (
    r"seconds?|retr(?:y|ies)|attempts?|[MGTK]i?B|[mµn]s|minutes?|hours?|days?|weeks?|bytes?|"
    r"workers?|threads?|nodes?|replicas?|instances?|users?|requests?|errors?|percent|"
    r"[kcm]?m|kg|[MG]?Hz|tokens?|USD|EUR"
)
# What may not stand before is checked after the first character: a pattern that starts with a
# character set lets `re` skip all other text fast.
_PROPER_NAME: Final = re.compile(rf"[{UPPER}](?<!\w.)[{LOWER}]++(?: [{UPPER}][{LOWER}]++)*+(?!\w)")
_ASCII_NAME: Final = re.compile(r"[A-Z](?<!\w.)[a-z]++(?: [A-Z][a-z]++)*+(?!\w)", re.ASCII)
_QUANTITY: Final = re.compile(
    rf"[0-9](?<![^\W{IDEOGRAPHS}].)(?<![.,].)[0-9]*+(?:[.,][0-9]++)*+"
    rf"(?:%| ?(?=[^\W\d_])(?i:{_UNITS})(?!\w)|[{IDEOGRAPHS}]{{1,2}})"
)
_ASCII_QUANTITY: Final = re.compile(
    r"[0-9](?<!\w.)(?<![.,].)[0-9]*+(?:[.,][0-9]++)*+(?:%| ?[A-Za-z]{1,9}+(?!\w))", re.ASCII
)
"""The same in ASCII, only that the unit may be any word: reading a list of units is slow."""
_ASCII_UNITS: Final = frozenset(
    "% second seconds retry retries attempt attempts mb gb tb kb mib gib tib kib ms ns minute "
    "minutes hour hours day days week weeks byte bytes worker workers thread threads node nodes "
    "replica replicas instance instances user users request requests error errors percent m km cm "
    "mm kg hz mhz ghz token tokens usd eur".split()
)
_TITLE: Final = re.compile(r"[「『《]([^「」『』《》\n]{1,30})[」』》]")
# Looking back at the extension keeps the path itself possessive, hence linear.
_AFTER_EXTENSION: Final = (
    "(?:" + "|".join(rf"(?<=\.[A-Za-z][A-Za-z0-9]{{{n}}})" for n in range(6)) + ")"
)
_IDENTIFIER: Final = re.compile(
    rf"(?<!\w)(?:(?P<pascal>{PASCAL})|(?P<camel>{CAMEL})|(?P<snake>{SNAKE}))(?!\w)"
)
_SHORT: Final = re.compile(rf"(?<![\w'])(?:{VOWELLESS})(?![\w'])")
_PATH: Final = re.compile(
    rf"(?<![\w./-])(?:\.{{0,2}}/)?+[\w-]++(?:[./][\w-]++)++{_AFTER_EXTENSION}(?![\w/])"
)
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`]++")
_VERSION: Final = re.compile(r"(?<![\w.,])v?[0-9]++\.[0-9]++(?:\.[0-9]++)?(?![\w.])")

_NONE: Final = Vocabulary(frozenset())
_KINDS: Final = ("pascal", "camel", "snake", "short", "quantity", "path", "address", "version")
_SHORT_KIND, _QUANTITY_KIND, _PATH_KIND, _ADDRESS_KIND, _VERSION_KIND = range(3, 8)
_TRAILING: Final = ".,;:!?)]}'\""

_STARTERS: Final = frozenset(
    "The This That These Those When Where What Which Who How Why Here There Now Then But And Or So "
    "If It Its My Your His Her Our They We You He She In On At To For With From As By An Each "
    "Every Some All Most Many Much Any No Not Also Just Only Even Still Yet Let See Note Yes Sure "
    "Great Thanks Well First Second Third Next Last Finally However After Before Since Once While "
    "Although Because Unless Until About Over Under Between Into Nothing Nobody Everything "
    "Everyone Someone Something Anyone Please Perhaps Maybe Today Tomorrow Yesterday".split()
)

_Named = tuple[tuple[int, str], ...]
"""The names in one word, each with the number of its kind.

A quantity without text says that the word ends in a number: its unit may be the next word.
"""
_MAX_KNOWN: Final = 50_000
"""Words remembered at a time."""
_LONG_WORD: Final = 60
"""Words longer than this hardly come again and are not remembered."""


def extract_entities(text: str, cap: int | None = None) -> list[str]:
    """Return the distinct entities of *text*, kind by kind, at most *cap* (default: by length)."""
    limit = entity_cap(len(text)) if cap is None else cap
    return list(iter_entities(text))[:limit]


def entity_cap(length: int) -> int:
    """Return how many entities a summary of that many characters may name: 3 to 15."""
    return max(3, min(int(length / 200 + 0.5), 15))


def iter_entities(text: str) -> Iterator[str]:
    """Yield every entity of *text* once, kind by kind."""
    return iter(NameFinder().find(text))


class NameFinder:
    """Finds the names in texts, and remembers what it found in each word."""

    def __init__(self) -> None:
        self._known: dict[str, _Named] = {}

    def find(self, text: str) -> dict[str, None]:
        """Return every entity of *text* once, kind by kind, in reading order."""
        names = _proper_names(text)
        kinds = self._kinds(text)
        if kinds is not None:
            if "" in kinds[_QUANTITY_KIND]:
                kinds[_QUANTITY_KIND] = _quantities(text)
            names.update(dict.fromkeys(chain.from_iterable(kinds)))
        if not text.isascii():
            titles = (title.rstrip(_TRAILING) for title in _TITLE.findall(text))
            names.update((title, None) for title in titles if title)
        return names

    def _kinds(self, text: str) -> list[list[str]] | None:
        """Return the names found in single words, a list for each kind; `None` without any."""
        words = dict.fromkeys(telling_words(text, _NONE))
        known = self._known
        if len(known) > _MAX_KNOWN:
            known.clear()
        fresh = [word for word in words if word not in known]
        for word in fresh:
            known[word] = _names_in(word)
        found = list(filter(None, map(known.__getitem__, words)))
        for word in [word for word in fresh if len(word) > _LONG_WORD]:
            del known[word]
        if not found:
            return None
        kinds: list[list[str]] = [[] for _ in _KINDS]
        for named in found:
            for kind, name in named:
                kinds[kind].append(name)
        return kinds


def _proper_names(text: str) -> dict[str, None]:
    pattern = _ASCII_NAME if text.isascii() else _PROPER_NAME
    names = dict.fromkeys(pattern.findall(text))
    for name in [name for name in names if name.partition(" ")[0] in _STARTERS]:
        del names[name]
    return names


def _quantities(text: str) -> list[str]:
    if not text.isascii():
        return _QUANTITY.findall(text)
    found = _ASCII_QUANTITY.findall(text)
    return [name for name in found if name.lstrip("0123456789., ").lower() in _ASCII_UNITS]


def _names_in(word: str) -> _Named:
    """Find all names that lie inside one *word*."""
    if PLAIN_WORD.fullmatch(word):
        return ()
    if PLAIN_NUMBER.fullmatch(word):
        return ((_QUANTITY_KIND, ""),) if word[-1].isdecimal() else ()
    found: list[tuple[int, str]] = []
    if "_" in word or not word.islower():
        for match in _IDENTIFIER.finditer(word):
            found.append((_KINDS.index(match.lastgroup or ""), match[0]))
    for name in _SHORT.findall(word):
        found.append((_SHORT_KIND, name.lower()))
    for name in _quantities(word):
        found.append((_QUANTITY_KIND, name))
    if word[-1] in "0123456789":
        found.append((_QUANTITY_KIND, ""))
    if "." in word:
        _add_trimmed(found, _PATH_KIND, _PATH.findall(word))
        _add_trimmed(found, _VERSION_KIND, _VERSION.findall(word))
    if "://" in word:
        _add_trimmed(found, _ADDRESS_KIND, _ADDRESS.findall(word))
    return tuple(found)


def _add_trimmed(found: list[tuple[int, str]], kind: int, names: list[str]) -> None:
    """Add names without the punctuation behind them."""
    for name in names:
        trimmed = name.rstrip(_TRAILING)
        if trimmed:
            found.append((kind, trimmed))
