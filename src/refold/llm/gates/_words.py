"""The words that the gates know, read from `words.txt`, and the languages that they tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from typing import Final


def word_rows(name: str) -> list[list[str]]:
    """Return the words of one list of `words.txt`, line by line."""
    return _LISTS[name]


def words_of(name: str) -> list[str]:
    """Return the words of one list of `words.txt`, in order."""
    return [word for row in _LISTS[name] for word in row]


def _read_lists() -> dict[str, list[list[str]]]:
    lists: dict[str, list[list[str]]] = {"": []}
    name = ""
    for line in files("refold.llm.gates").joinpath("words.txt").read_text("utf-8").splitlines():
        if line.startswith("## "):
            name = line[3:].partition(":")[0]
            lists[name] = []
        elif line:
            lists[name].append(line.split())
    return lists


_LISTS: Final = _read_lists()
LANGUAGES: Final = {name.rstrip(":"): frozenset(words) for name, *words in word_rows("small words")}
FUNCTION_WORDS: Final = frozenset().union(*LANGUAGES.values())
"""The small words of all these languages, which carry no subject."""
HELPING_WORDS: Final = frozenset(words_of("helping words"))
"""Words that help others; of themselves they say nothing that could be denied."""


@dataclass(frozen=True, slots=True)
class NumberWord:
    """A part of a number, and the languages that have it."""

    value: Decimal
    room: int = 0
    """What follows it is smaller than this: 10 behind *twenty*, 0 behind *five*."""
    is_factor: bool = False
    """Whether it multiplies what stands before it: hundred, thousand, dozen."""
    languages: frozenset[str] = frozenset()


_GERMAN_ONES: Final = "ein zwei drei vier fünf sechs sieben acht neun".split()
_GERMAN_TENS: Final = (
    "zwanzig dreißig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
)


def _number_words() -> Iterator[tuple[str, str, NumberWord]]:
    """Yield language, word and meaning of each part of a number."""
    for language, first, step, room, *words in word_rows("numbers"):
        for place, spellings in enumerate(words):
            value = Decimal(int(first) + place * int(step))
            for word in spellings.split("/"):
                yield language, word, NumberWord(value, int(room))
    for ten, tens in zip(_GERMAN_TENS, (20, 30, 30, 40, 50, 60, 70, 80, 90), strict=True):
        for number, one in enumerate(_GERMAN_ONES, start=tens + 1):
            yield "de", f"{one}und{ten}", NumberWord(Decimal(number))
    stems = "zwei drit vier fünf sechs sieb ach neun zehn elf zwölf".split()
    for number, stem in enumerate(stems, start=2):
        for ending in ("te", "ten", "ter", "tes", "tem"):
            yield "de", stem + ending, NumberWord(Decimal(number))
    for language, factor, *words in word_rows("factors"):
        for word in words:
            yield language, word, NumberWord(Decimal(factor), int(factor), is_factor=True)
    for language, share, *words in word_rows("shares"):
        for word in words:
            yield language, word, NumberWord(Decimal(share))


def _make_number_words() -> dict[str, NumberWord]:
    found: dict[str, NumberWord] = {}
    for language, word, meaning in _number_words():
        known = found.get(word, meaning).languages
        found[word] = replace(meaning, languages=known | {language})
    return found


NUMBER_WORDS: Final = _make_number_words()
"""Every part of a number by its word."""
UNSURE: Final = frozenset("dos once quince neuf sept elf cent cents null".split())
"""Words that mean something else in another language; they count in a text of their own, or beside
another number word of it."""
ARTICLES: Final = frozenset("un une una uno ein eine einen einem einer".split())
"""These are numbers only within one, and before a unit."""
FRACTIONS: Final = {word: parts for parts, *words in word_rows("fractions") for word in words}
"""Parts of a whole, behind how many of them."""
COMPOUND: Final = tuple(
    sorted(
        {
            *(f"{one}und{ten}" for ten in _GERMAN_TENS for one in _GERMAN_ONES),
            *_GERMAN_TENS,
            *_GERMAN_ONES,
            *words_of("written together"),
        },
        key=lambda word: (-len(word), word),
    )
)
"""The parts that German writes together, the longest first."""

_SCRIPTS: Final = (
    # Words of code and addresses are the same in every language.
    ("Latin", r"(?<![\w./\\@=`$-])[A-Za-z\u00c0-\u024f]++(?![\w/\\@=`(]|[.:-]\w)"),
    ("Cyrillic", r"[\u0400-\u052f]++"),
    ("Greek", r"[\u0370-\u03ff]++"),
    ("Hebrew", r"[\u0590-\u05ff]++"),
    ("Arabic", r"[\u0600-\u06ff\u0750-\u077f]++"),
    ("Devanagari", r"[\u0900-\u097f]++"),
    ("Thai", r"[\u0e00-\u0e7f]"),
    ("Kana", r"[\u3040-\u30ff]"),
    ("Han", r"[\u3400-\u4dbf\u4e00-\u9fff]"),
    ("Hangul", r"[\uac00-\ud7af]++"),
)
_WORD: Final = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _SCRIPTS))
_QUOTED: Final = re.compile(r"`[^`\n]*+`|\"[^\"\n]*+\"|“[^“”\n]*+”|「[^「」\n]*+」")
_MIN_WORDS: Final = 8
"""Fewer words may all be names and loans, and show no language. A guess."""
_CLEAR: Final = 0.7
"""The share of words that shows the script of a text."""
_MIN_HITS: Final = 4
"""So many small words of one language are no chance. A guess."""


@lru_cache(maxsize=16)  # several gates ask for that of an answer
def language_of(text: str) -> str | None:
    """Name the language, or at least the script, of a text that is long and clear enough."""
    counts: Counter[str] = Counter()
    latin: Counter[str] = Counter()
    for found in _WORD.finditer(_QUOTED.sub(" ", text)):
        counts[found.lastgroup or ""] += 1
        if found.lastgroup == "Latin":
            latin[found[0].lower()] += 1
    total = counts.total()
    if total < _MIN_WORDS:
        return None
    if counts["Kana"] and (counts["Kana"] + counts["Han"]) >= _CLEAR * total:
        return "Japanese" if counts["Kana"] * 8 > total else "Han"
    script, number = counts.most_common(1)[0]
    if number < _CLEAR * total:
        return None
    return _latin_language(latin) if script == "Latin" else script


def may_be_german(text: str) -> bool:
    """Tell whether nouns may have capitals in *text*; in doubt they may."""
    language = language_of(text)
    if language in LANGUAGES:
        return language == "German"
    hits = count_small_words(Counter(found[0].lower() for found in _WORD.finditer(text)))
    return hits["German"] > hits["English"]


def count_small_words(words: Counter[str]) -> Counter[str]:
    """Return how many of *words*, in small letters, are small words of each language."""
    return Counter({name: sum(words[word] for word in small) for name, small in LANGUAGES.items()})


def _latin_language(words: Counter[str]) -> str:
    hits = count_small_words(words)
    (best, most), (_, second) = hits.most_common(2)
    sure = most >= _MIN_HITS and most * 10 >= words.total() and most >= 2 * second
    return best if sure else "Latin"
