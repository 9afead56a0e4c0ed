"""What names look like: people, identifiers, quantities, files, addresses.

These patterns say what is right, in whatever way the names are found. Each can begin only where a
word, a number or a path begins and never gives back what it has read, so the time is linear in the
text whatever the text is.
"""

from __future__ import annotations

import re
from typing import Final

from refold.scan.alphabet import IDEOGRAPHS, LOWER, UPPER
from refold.scan.patterns import UNITS, WEB_ADDRESS
from refold.scan.urls import trim_url

CAMEL: Final = r"[a-z][a-z0-9]*+(?:[A-Z]++[a-z0-9]*+)++"
PASCAL: Final = r"[A-Z][a-z0-9]++(?:[A-Z]++[a-z0-9]*+)++"
SNAKE: Final = r"[a-z][a-z0-9]*+(?:_[a-z0-9]++)++|[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++"
CONSONANTS: Final = "bcdfghjklmnpqrstvwxz"
VOWELLESS: Final = rf"(?i:[{CONSONANTS}]{{3,}}+)"
NUMBER: Final = r"[0-9]++(?:[.,][0-9]++)*+"

# What may not stand before is checked after the first character: a pattern that starts with a
# character set lets `re` skip all other text fast.
PROPER_NAME: Final = re.compile(rf"([{UPPER}](?<!\w.)[{LOWER}]++(?: [{UPPER}][{LOWER}]++)*+)(\w?+)")
"""Capitalized words in a row, and the letter that goes on where the last one is not over.

With such a letter they are no name, nor is any part of the row: trying each would be quadratic.
"""
ASCII_PROPER_NAME: Final = re.compile(r"([A-Z](?<!\w.)[a-z]++(?: [A-Z][a-z]++)*+)(\w?+)", re.ASCII)
STARTERS: Final = frozenset(
    "The This That These Those When Where What Which Who How Why Here There Now Then But And Or So "
    "If It Its My Your His Her Our They We You He She In On At To For With From As By An Each "
    "Every Some All Most Many Much Any No Not Also Just Only Even Still Yet Let See Note Yes Sure "
    "Great Thanks Well First Second Third Next Last Finally However After Before Since Once While "
    "Although Because Unless Until About Over Under Between Into Nothing Nobody Everything "
    "Everyone Someone Something Anyone Please Perhaps Maybe Today Tomorrow Yesterday".split()
)
"""Words that have their capital from the sentence they begin."""

IDENTIFIER: Final = re.compile(
    rf"(?<!\w)(?:(?P<pascal>{PASCAL})|(?P<camel>{CAMEL})|(?P<snake>{SNAKE}))(?!\w)"
)
_ANY_CONSONANT: Final = f"[{CONSONANTS}{CONSONANTS.upper()}\u017f\u212a]"
SHORT: Final = re.compile(rf"{_ANY_CONSONANT}(?<![\w'].){_ANY_CONSONANT}{{2,}}+(?![\w'])")
"""Abbreviations: no vowel. Where case is ignored, two letters beyond ASCII count as S and K."""

QUANTITY: Final = re.compile(
    rf"[0-9](?<![^\W{IDEOGRAPHS}].)(?<![.,].)[0-9]*+(?:[.,][0-9]++)*+"
    rf"(?:%| ?(?=[^\W\d_])(?i:{UNITS})(?!\w)|[{IDEOGRAPHS}]{{1,2}})"
)
ASCII_QUANTITY: Final = re.compile(
    r"[0-9](?<![\w.,].)[0-9]*+(?:[.,][0-9]++)*+(?:%| ?[A-Za-z]{1,9}+(?!\w))", re.ASCII
)
"""The same in ASCII, but the unit may be any word: looking it up in `UNIT_WORDS` is faster."""

# Looking back at the extension keeps the path itself possessive, hence linear.
_AFTER_EXTENSION: Final = (
    "(?:" + "|".join(rf"(?<=\.[A-Za-z][A-Za-z0-9]{{{n}}})" for n in range(6)) + ")"
)
PATH: Final = re.compile(
    rf"(?<![\w./-])(?:\.{{0,2}}/)?+[\w-]++(?:[./][\w-]++)++{_AFTER_EXTENSION}(?![\w/])"
)
VERSION: Final = re.compile(r"(?<![\w.,])v?[0-9]++\.[0-9]++(?:\.[0-9]++)?(?![\w.])")
TITLE: Final = re.compile(r"[「『《]([^「」『』《》\n]{1,30})[」』》]")

_TRAILING: Final = ".,;:!?)]}'\""


def addresses_and_titles(text: str) -> tuple[list[str], list[str]]:
    """Find the names that are more than words: few texts have any."""
    addresses: list[str] = []
    titles: list[str] = []
    if "/" in text and "://" in text:  # one character is looked for much faster
        addresses = [trim_url(address) for address in WEB_ADDRESS.findall(text)]
    if "《" in text or "「" in text or "『" in text:
        titles = list(filter(None, [name.rstrip(_TRAILING) for name in TITLE.findall(text)]))
    return addresses, titles
