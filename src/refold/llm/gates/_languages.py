"""The languages that texts are in, known by their scripts and small words."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import Final

_BY_LANGUAGE: Final = {
    "English": "the of and to is was that it for with are this be by from were has have which they",
    "German": "der die und das ist nicht den von zu mit sich des auf für dem ein eine wird sind",
    "French": "le les et des est une que dans pour pas sur qui avec au du sont cette il nous être",
    "Spanish": "el los y las del una por con para es se lo como más está pero sus fue son hay",
    "Portuguese": "o os e do da em um uma não com para dos das mais foi são ao pelo ele isso",
    "Italian": "il di che è per non una sono con della del gli dei alla nel le anche più questo",
    "Dutch": "de het een van en is dat niet te op zijn voor met wordt er aan ook door naar bij",
    "Polish": "w na się nie jest że do z to jak po są dla przez od ale tego tym przed oraz",
    "Swedish": "och att det som på är av för den med inte till ett har om kan var från eller ska",
    "Turkish": "ve bir bu için ile da de olarak daha çok olan gibi ne değil var kadar sonra en her",
    "Indonesian": "yang dan di ini untuk dengan dari pada tidak adalah itu dalam akan ke oleh juga",
}
LANGUAGES: Final = {name: frozenset(words.split()) for name, words in _BY_LANGUAGE.items()}
FUNCTION_WORDS: Final = frozenset().union(*LANGUAGES.values())
"""The small words of all these languages, which carry no subject."""
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
