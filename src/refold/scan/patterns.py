"""How values are spelled, each kind once, for all who look for them: patterns and what checks them.

A pattern can begin only where a value can, and never gives back what it has read, so the time is
linear in the text whatever the text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.scan.runs import Span

ADDRESS: Final = r"[^\s<>\"'`“”«»|\\\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]++"
"""What comes behind the scheme of a URL; `trim_url` takes the punctuation away that follows it.

Chinese, Japanese and Korean are written without a blank after an address, so they end it.
"""
WEB_ADDRESS: Final = re.compile(rf"[hH][tT][tT][pP][sS]?://(?=[\w\[]){ADDRESS}")
"""A URL of the web. It starts with a character set, which lets `re` skip all other text fast."""

MAIL: Final = r"[\w.+-]{1,60}+@[\w-]{1,60}+\.[a-z.]{2,20}+"
"""A mail address as people and programs log in with it; nothing before it is checked."""

QUOTED: Final = (
    r'"[^"\n]*+"|“[^“”\n]*+”|„[^„“”\n]*+[“”]|«[^«»\n]*+»|「[^「」\n]*+」|『[^『』\n]*+』'
)
"""What stands between marks that nothing but a quotation has, the marks included."""

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

_IBAN: Final = re.compile(
    r"[A-Z](?<![A-Za-z0-9].)[A-Z][0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}+(?:[ -]?[A-Z0-9]{1,3})?+"
    r"(?![A-Za-z0-9])"
)
_IBAN_SIZES: Final = range(15, 35)
IBAN_START: Final = "[A-Z]{2}[0-9]{2}"
"""How each begins, as a prefilter takes it."""


def find_ibans(text: str) -> Iterator[Span]:
    """Yield the numbers of bank accounts, grouped or not, whose check digits are right."""
    for found in _IBAN.finditer(text):
        start, end = found.span()
        while end > start and not _is_iban(text[start:end]):
            end = max(text.rfind(" ", start, end), start)  # the last group may be another word
        if end > start:
            yield start, end


def _is_iban(spelled: str) -> bool:
    letters = compact_iban(spelled)
    if len(letters) not in _IBAN_SIZES:
        return False
    return int("".join(str(int(letter, 36)) for letter in letters[4:] + letters[:4])) % 97 == 1


def compact_iban(spelled: str) -> str:
    """Return an IBAN without what groups its letters: the same for all ways to write it."""
    return spelled.replace(" ", "").replace("-", "")
