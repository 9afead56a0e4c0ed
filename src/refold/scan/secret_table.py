"""Reads `secrets.txt`: keys of services, places of secrets, and the words that announce them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Final

from refold.lazy import regex
from refold.shipped import read_shipped


class Grade(IntEnum):
    """How strongly a word announces that what follows is secret.

    TALK says that a text is about accounts. After WEAK (`key`) only what looks like chance is
    secret, after CODE (`pin`) digits are, after SECRET (`token`) what a machine made, and after
    PASSWORD anything that people can think of.
    """

    TALK = 0
    WEAK = 1
    CODE = 2
    SECRET = 3
    PASSWORD = 4


_TABLE: Final = read_shipped("refold.scan", "secrets.txt").decode()
_LISTS: Final = {
    heading: re.sub(r"(?m)^# .*\n", "", rows)
    for heading, _, rows in (part.partition("\n") for part in _TABLE.split("\n## ")[1:])
}
KEYS: Final = regex(
    "|".join(row.partition("  # ")[0].strip() for row in _LISTS["keys"].split("\n") if row),
    re.ASCII,
)
"""Keys that nothing else looks like. None begins inside a word."""
PREFIXED: Final = regex(
    r"(?:AGE-SECRET-KEY|hf|re|r8|sq[apu]|(?P<other>[A-Za-z][A-Za-z0-9]{1,14}+))[-_]"
    r"(?P<body>[A-Za-z0-9_-]{20,}+)"
)
"""A prefix and a body of which chance decides whether it is a key."""
WORDS: Final = {heading: tuple(rows.split()) for heading, rows in _LISTS.items()}
GRADES: Final = {
    word.replace("_", ""): grade for grade in Grade for word in WORDS[grade.name.lower()]
}
"""The words in lower case without what may stand between their parts: a blank, `-`, `_` or `.`."""


def _spelled() -> str:
    """Spell the words as one pattern, the longest first, by their first letters."""
    by_first: dict[str, list[str]] = {}
    words = [word for grade in Grade for word in WORDS[grade.name.lower()]]
    for word in sorted(words, key=len, reverse=True):
        rest = "[ _.-]?".join(map(re.escape, word[1:].split("_")))
        by_first.setdefault(word[0], []).append(rest)
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in by_first.items())


NAMES: Final = regex(_spelled())
"""Finds the words in lower case."""
_ARGUMENT: Final = r"[\\\"']{0,2}(?P<value>[^\s\"'\\|;$<-][^\s\"'\\|;]{2,200}+)"


def read_rows(heading: str) -> Iterator[tuple[str, str]]:
    """Yield the first word of each row below *heading*, and the rest of it in one line."""
    for row in re.split(r"\n(?=\S)", _LISTS[heading].strip()):
        word, rest = row.split(None, 1)
        yield word, re.sub(r"\n\s+", "", rest)


PLACES: Final = tuple(
    (
        word.strip('"'),
        regex(row.removeprefix("?").strip().replace("ARG", _ARGUMENT)),
        row[0] == "?",
    )
    for word, row in read_rows("places")
)
"""A word that every text with a match has, a pattern, and whether chance made the value."""
