"""What plain English does not write: SQL, and an argument whose steps hang together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import Final, TypeVar

from refold.classic import words
from refold.classic.texts import View, is_letter
from refold.classic.words import key_word
from refold.lazy import regex

T = TypeVar("T")

_MIN_KEYWORDS: Final = 3  # the contract's
# Longer alternatives first, so that the JOIN of a LEFT JOIN is no keyword of its own; nothing
# before the first letter, so that `re` can skip all other text fast.
_KEYWORDS: Final = sorted(words.SQL_STRONG | words.SQL_WEAK | words.SQL_OTHER)
_KEYWORD: Final = regex(
    rf"(?:{'|'.join(sorted(_KEYWORDS, key=len, reverse=True))})(?!\w)".replace(" ", r"\s{1,8}+")
)
_NAME: Final = r"[\w.\"`\[\]]{1,128}+"
_KINDS_OF_JOIN: Final = "|".join(
    rf"(?<={kind}\sjoin)" for kind in "inner left right cross full natural outer".split()
)
_COMPARED: Final = (
    rf"\s{{1,8}}+(?:not\s{{1,8}}+)?{_NAME}(?:\([^()\n]{{0,80}}+\))?\s{{0,8}}+"
    r"(?:[=<>]|!=|like\s{0,8}+'|in\s{0,8}+\(|between\s{1,8}+['0-9]|is\s{1,8}+(?:not\s{1,8}+)?null\b)"
)
# The patterns read lower-cased text. Each starts with its needle, which `re` looks for as fast as
# `in` does; what comes before it is left to a look behind.
_UNMISTAKABLE: Final = {
    "varchar": regex(r"varchar(?<!\wvarchar)(?!\w)"),
    # English has a "primary key to success".
    "primary": regex(r"primary\s{1,8}+key(?!\w)(?! (?:to|for|in|of)\b)"),
    "foreign": regex(r"foreign\s{1,8}+key(?!\w)"),
    "recursive": regex(r"recursive(?<=with\srecursive)(?!\w)"),
    "join": regex(rf"join(?:{_KINDS_OF_JOIN})(?!\w)"),
}
"""What no one writes in plain English, whatever the case."""
_SHAPES: Final = {
    "insert": regex(rf"insert\s{{1,8}}+into\s{{1,8}}+{_NAME}\s{{0,8}}+(?:\(|values\b|select\b)"),
    "create": regex(
        r"create\s{1,8}+(?:or\s{1,8}+replace\s{1,8}+|temp(?:orary)?\s{1,8}+|unique\s{1,8}+)?"
        r"(?:table|view|index|schema|trigger|procedure|function)\s{1,8}+"
        rf"(?:if\s{{1,8}}+not\s{{1,8}}+exists\s{{1,8}}+)?{_NAME}\s{{0,8}}+(?:\(|as\s|on\s)"
    ),
    "table": regex(
        r"table(?:(?<=alter\stable)|(?<=drop\stable)|(?<=truncate\stable))"
        rf"\s{{1,8}}+(?:if\s{{1,8}}+exists\s{{1,8}}+)?{_NAME}"
    ),
    "update": regex(rf"update\s{{1,8}}+{_NAME}\s{{1,8}}+set\s{{1,8}}+{_NAME}\s{{0,8}}+="),
    "values": regex(r"values\s{0,8}+\((?=\s{0,8}+['\"0-9?:%$])"),
    "select": regex(r"select\s{1,8}+(?:distinct\s{1,8}+)?(?:\*|[\w.]{1,64}+\()"),
    "from": regex(
        rf"from\s{{1,8}}+{_NAME}(?:\s{{1,8}}+(?:as\s{{1,8}}+)?\w{{1,64}}+)??\s{{1,8}}+"
        rf"(?:(?:order|group)\s{{1,8}}+by\s{{1,8}}+{_NAME}|limit\s{{1,8}}+[0-9]"
        rf"|join\s{{1,8}}+{_NAME}(?:\s{{1,8}}+\w{{1,64}}+)??\s{{1,8}}+(?:on|using)\b)"
    ),
    "where": regex(rf"where(?<!\wwhere){_COMPARED}"),
    "having": regex(rf"having(?<!\whaving){_COMPARED}"),
}
"""How SQL puts its words; English uses the same ones in other company."""
_VERBS: Final = ("select", "insert", "update", "delete", "create", "alter", "drop", "merge")


def is_sql(view: View) -> bool:
    """Tell whether a text has SQL in it."""
    seen = view.words & (words.SQL_STRONG_WORDS | words.SQL_COUNTED_WORDS)
    if not _is_enough(seen, words.SQL_STRONG_WORDS, words.SQL_WEAK_WORDS):
        return False
    capitals = [word for word in seen if word.upper() in view.plain]
    if _is_enough(capitals, words.SQL_STRONG_WORDS, words.SQL_WEAK_WORDS) and _has_keywords(
        view.text
    ):
        return True
    lower = view.lower
    if any(needle in lower and shape.search(lower) for needle, shape in _UNMISTAKABLE.items()):
        return True
    if not any(verb in lower for verb in _VERBS):
        return False
    if any(needle in lower and shape.search(lower) for needle, shape in _SHAPES.items()):
        return _has_keywords(view.text.upper())
    return False


def _has_keywords(text: str) -> bool:
    keywords = {
        " ".join(keyword[0].split())
        for keyword in _KEYWORD.finditer(text)
        if not (keyword.start() and is_letter(text[keyword.start() - 1]))
    }
    return _is_enough(keywords, words.SQL_STRONG, words.SQL_WEAK)


def _is_enough(seen: Collection[T], strong: frozenset[T], weak: frozenset[T]) -> bool:
    return not strong.isdisjoint(seen) or (len(seen) >= _MIN_KEYWORDS and not weak.isdisjoint(seen))


# Proofs, derivations, chains of conclusions.

_MIN_MARKERS: Final = 3  # phrases that make an argument if none does so alone
_MIN_STEPS: Final = 3  # numbered lines that make one together with such a phrase
# These read lower-cased text after a line feed.
_LABEL: Final = regex(
    r"\n[ \t]*+(?:reasoning|conclusion|proof|derivation|chain of thought|step[ -]by[ -]step)"
    r"\s{0,8}+:"
)
# "Analysis:" heads a report as often as an argument: it needs a connective beside it.
_MILD_LABEL: Final = regex(r"\n[ \t]*+analysis\s{0,8}+:")
_NUMBERED: Final = regex(r"\n[ \t]*+(?:step [0-9]{1,9}+[:.)]|[0-9]{1,9}+[.)](?=\s))")
_CONCLUSIVE, _CONNECTIVES, _MARKERS = (
    {phrase: key_word(phrase) for phrase in phrases}
    for phrases in (words.CONCLUSIVE, words.CONNECTIVES, words.MARKERS)
)


def is_argument(view: View) -> bool:
    """Tell whether a text argues step by step."""
    if not view.text.isascii() and "∴" in view.text:
        return True
    seen = view.words & words.CHAIN_WORDS
    if not seen:
        return False
    if _count(_CONCLUSIVE, view):
        return True
    if seen & words.LABEL_WORDS and ":" in view.text and _LABEL.search(f"\n{view.lower}"):
        return True
    connectives = _count(_CONNECTIVES, view)
    markers = connectives + _count(_MARKERS, view)
    if not markers:
        return False
    # First, second, third tell a story as well as an argument: together they count once.
    if markers + (not words.ORDINALS.isdisjoint(view.words)) >= _MIN_MARKERS:
        return True
    lines = f"\n{view.lower}"
    if connectives and b"analysis" in view.words and _MILD_LABEL.search(lines):
        return True
    return len(list(islice(_NUMBERED.finditer(lines), _MIN_STEPS))) == _MIN_STEPS


def _count(phrases: Mapping[str, bytes], view: View) -> int:
    """Count the phrases that a text has, each once."""
    return sum([word in view.words and view.has(phrase) for phrase, word in phrases.items()])
