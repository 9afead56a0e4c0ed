"""The vocabulary: how letters, addresses, quotations, quantities and names are spelled, each once.

A pattern can begin only where a value can, and never gives back what it has read, so the time is
linear in the text whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from refold.lazy import regex
from refold.scan.runs import Span

# The standard `re` has no class for capital letters. These classes are for the scripts that have
# capitals (Latin, Greek, Cyrillic, Armenian), whose code points do not change any more, so that the
# same text gives the same result with every Python version.
_CASED_BLOCKS: Final = ((0x41, 0x590), (0x1E00, 0x2000))


def _ranges(belongs: Callable[[str], bool]) -> str:
    """Spell all cased letters that belong as ranges of a character class."""
    pieces: list[str] = []
    for first, last in _CASED_BLOCKS:
        run: list[int] = []
        for code in range(first, last + 1):
            if code < last and chr(code).isalpha() and belongs(chr(code)):
                run.append(code)
            elif run:
                pieces.append(f"{chr(run[0])}-{chr(run[-1])}" if len(run) > 1 else chr(run[0]))
                run = []
    return "".join(pieces)


KANA: Final = r"\u3040-\u30ff"
HAN: Final = r"\u3400-\u9fff"
HANGUL: Final = r"\uac00-\ud7af"
"""The scripts of Japanese, Chinese and Korean as classes of characters, without rare ones."""
IDEOGRAPHS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Chinese characters and Japanese kana: written without spaces between words."""

ADDRESS: Final = r"[^\s<>\"'`“”«»|\\\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]++"
"""What comes after the scheme of a URL; `trim_url` takes the punctuation away that follows it.

Chinese, Japanese and Korean are written without a blank after an address, so they end it.
"""
WEB_ADDRESS: Final = regex(rf"[hH][tT][tT][pP][sS]?://(?=[\w\[]){ADDRESS}")
"""A URL of the web. It starts with a character set, which lets `re` skip all other text fast."""


QUOTED: Final = (
    r'"[^"\n]*+"|“[^“”\n]*+”|„[^„“”\n]*+[“”]|«[^«»\n]*+»|「[^「」\n]*+」|『[^『』\n]*+』'
)
"""What stands between marks that nothing but a quotation has, the marks included."""

UUID_HEAD: Final = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}"
UUID: Final = rf"{UUID_HEAD}[0-9a-fA-F]{{12}}"

NUMBERED_LINE: Final = r"([1-9]\d{0,6})(→|\t|:|\|)"
"""The number that a tool puts before a line, and what it writes after it."""

_COUNTED: Final = (
    "second minute hour day week byte worker thread node replica instance user request error token "
    "attempt"
).split()
_MEASURES: Final = (
    "ms ns kb mb gb tb kib mib gib tib m km cm mm kg hz mhz ghz usd eur percent retry retries"
).split()
UNIT_WORDS: Final = frozenset(("%", *_COUNTED, *(f"{word}s" for word in _COUNTED), *_MEASURES))
"""What makes a number a quantity, in lower case and ASCII: what programs count, and measures."""
UNITS: Final = "|".join((*(f"{word}s?" for word in _COUNTED), "[µn]s", *_MEASURES))
"""The same as a pattern, for any case; without the sign for percent, which no word follows."""

_IBAN: Final = regex(
    r"[A-Z](?<![A-Za-z0-9].)[A-Z][0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}+(?:[ -]?[A-Z0-9]{1,3})?+"
    r"(?![A-Za-z0-9])"
)
_COUNTRIES_BY_SIZE: Final = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "AO CV GW LY MZ PT ST",
    26: "DZ IR IS TR",
    27: "BI CF CG CM DJ FR GA GQ GR IT KM MC MG MR SM TD",
    28: "AL AZ BF BJ BY CI CY DO GT HN HU LB MA ML NE NI PL SN SV TG",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
IBAN_SIZES: Final = {
    country: size for size, countries in _COUNTRIES_BY_SIZE.items() for country in countries.split()
}
"""Country → letters and digits of its IBANs: the SWIFT registry, and the countries of Africa and
Iran that use IBANs without being in it."""
_AFTER: Final = ".,;:!?'*_…"
"""Punctuation that closes the sentence, not the address."""
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}


def find_ibans(text: str) -> Iterator[Span]:
    """Yield the IBANs, grouped or not, whose length and check digits are right.

    The length matters: one beginning of a wrong number in 97 has check digits that are right.
    """
    for match in _IBAN.finditer(text):
        start, end = match.span()
        while end > start and not _is_iban(text[start:end]):
            end = max(text.rfind(" ", start, end), start)  # the last group may be another word
        if end > start:
            yield start, end


def _is_iban(spelled: str) -> bool:
    letters = compact_iban(spelled)
    if len(letters) != IBAN_SIZES.get(letters[:2]):
        return False
    return int("".join(str(int(letter, 36)) for letter in letters[4:] + letters[:4])) % 97 == 1


def compact_iban(spelled: str) -> str:
    """Return an IBAN without what groups its letters: the same for all ways to write it."""
    return spelled.replace(" ", "").replace("-", "")


def trim_url(url: str) -> str:
    """Return *url* without what belongs to the text around: punctuation, brackets never opened."""
    surplus = {close: url.count(close) - url.count(open_) for close, open_ in _BRACKETS.items()}
    end = len(url)
    while end:
        last = url[end - 1]
        if surplus.get(last, 0) > 0:
            surplus[last] -= 1
        elif last not in _AFTER:
            break
        end -= 1
    return url[:end]


CAMEL: Final = r"[a-z][a-z0-9]*+(?:[A-Z]++[a-z0-9]*+)++"
PASCAL: Final = r"[A-Z][a-z0-9]++(?:[A-Z]++[a-z0-9]*+)++"
SNAKE: Final = r"[a-z][a-z0-9]*+(?:_[a-z0-9]++)++|[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++"
CONSONANTS: Final = "bcdfghjklmnpqrstvwxz"
VOWELLESS: Final = rf"(?i:[{CONSONANTS}]{{3,}}+)"
NUMBER: Final = r"[0-9]++(?:[.,][0-9]++)*+"


# What may not stand before is checked after the first character: a pattern that starts with a
# character set lets `re` skip all other text fast.
@cache
def proper_name() -> re.Pattern[str]:
    """Return the pattern of capitalized words in a row, and of the letter after one not over.

    With such a letter the row holds no name at all: trying each would be quadratic.
    """
    upper, lower = _ranges(str.isupper), _ranges(str.islower)
    return re.compile(rf"([{upper}](?<!\w.)[{lower}]++(?: [{upper}][{lower}]++)*+)(\w?+)")


ASCII_PROPER_NAME: Final = regex(r"([A-Z](?<!\w.)[a-z]++(?: [A-Z][a-z]++)*+)(\w?+)", re.ASCII)
STARTERS: Final = frozenset(
    "The This That These Those When Where What Which Who How Why Here There Now Then But And Or So "
    "If It Its My Your His Her Our They We You He She In On At To For With From As By An Each "
    "Every Some All Most Many Much Any No Not Also Just Only Even Still Yet Let See Note Yes Sure "
    "Great Thanks Well First Second Third Next Last Finally However After Before Since Once While "
    "Although Because Unless Until About Over Under Between Into Nothing Nobody Everything "
    "Everyone Someone Something Anyone Please Perhaps Maybe Today Tomorrow Yesterday".split()
)
"""Words that have their capital from the sentence they begin."""

IDENTIFIER: Final = regex(
    rf"(?<!\w)(?:(?P<pascal>{PASCAL})|(?P<camel>{CAMEL})|(?P<snake>{SNAKE}))(?!\w)"
)
_ANY_CONSONANT: Final = f"[{CONSONANTS}{CONSONANTS.upper()}\u017f\u212a]"
SHORT: Final = regex(rf"{_ANY_CONSONANT}(?<![\w'].){_ANY_CONSONANT}{{2,}}+(?![\w'])")
"""Abbreviations: no vowel. Where case is ignored, two letters beyond ASCII count as S and K."""

QUANTITY: Final = regex(
    rf"[0-9](?<![^\W{IDEOGRAPHS}].)(?<![.,].)[0-9]*+(?:[.,][0-9]++)*+"
    rf"(?:%| ?(?=[^\W\d_])(?i:{UNITS})(?!\w)|[{IDEOGRAPHS}]{{1,2}})"
)
ASCII_QUANTITY: Final = regex(
    r"[0-9](?<![\w.,].)[0-9]*+(?:[.,][0-9]++)*+(?:%| ?[A-Za-z]{1,9}+(?!\w))", re.ASCII
)
"""The same in ASCII, but the unit may be any word: looking it up in `UNIT_WORDS` is faster."""


def after_extension(longest: int) -> str:
    """Spell a look back at an extension of at most *longest* characters.

    Looking back keeps the path before it possessive, hence linear.
    """
    ends = "|".join(rf"(?<=\.[A-Za-z][A-Za-z0-9]{{{n}}})" for n in range(longest))
    return f"(?:{ends})"


PATH: Final = regex(
    rf"(?<![\w./-])(?:\.{{0,2}}/)?+[\w-]++(?:[./][\w-]++)++{after_extension(6)}(?![\w/])"
)
VERSION: Final = regex(r"(?<![\w.,])v?[0-9]++\.[0-9]++(?:\.[0-9]++)?(?![\w.])")
TITLE: Final = regex(r"[「『《]([^「」『』《》\n]{1,30})[」』》]")
