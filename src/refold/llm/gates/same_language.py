"""Refuses an answer in another language than its source, where both are plain to see."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from refold.llm.gates._languages import FUNCTION_WORDS, LANGUAGES
from refold.llm.gates.base import Gate, Refusal, Source

__all__ = ["FUNCTION_WORDS", "GATE", "language_of", "may_be_german"]

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
_CLEAR: Final = 0.7
"""The share of words that shows the script of a text."""
_MIN_HITS: Final = 4
_LARGE_NOUNS: Final = ("German", "English")
"""The language that writes nouns large, and the one that it is told from."""


def _check(source: Source, answer: str) -> Refusal | None:
    theirs = language_of(answer)
    if theirs is None:
        return None
    ours = language_of(source.text)
    if ours is None or ours == theirs or _may_be_same(ours, theirs):
        return None
    return Refusal(gate="same_language", why=f"the source is {ours}, the answer {theirs}")


def _may_be_same(one: str, other: str) -> bool:
    """Latin letters without a known language may be any language that uses them."""
    if "Latin" in {one, other}:
        return {one, other} - {"Latin"} <= set(LANGUAGES)
    return False


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
    words = [found[0].lower() for found in _WORD.finditer(text)]
    german, english = (sum(word in LANGUAGES[name] for word in words) for name in _LARGE_NOUNS)
    return german > english


def _latin_language(words: Counter[str]) -> str:
    hits = Counter(
        {
            name: sum(number for word, number in words.items() if word in known)
            for name, known in LANGUAGES.items()
        }
    )
    (best, most), (_, second) = hits.most_common(2)
    sure = most >= _MIN_HITS and most * 10 >= words.total() and most >= 2 * second
    return best if sure else "Latin"


GATE: Final = Gate("same_language", _check)
