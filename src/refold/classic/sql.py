"""Tell SQL, in capitals or not, from English that uses the same words."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, TypeVar

from refold.classic.texts import View
from refold.classic.words import (
    SQL_COUNTED_WORDS,
    SQL_OTHER,
    SQL_STRONG,
    SQL_STRONG_WORDS,
    SQL_WEAK,
    SQL_WEAK_WORDS,
)

T = TypeVar("T")

_MIN_KEYWORDS: Final = 3  # the contract's
# Longer alternatives first, so that the JOIN of a LEFT JOIN is no keyword of its own; nothing
# before the first letter, so that `re` can skip all other text fast.
_KEYWORD: Final = re.compile(
    "(?:"
    + "|".join(
        word.replace(" ", r"\s{1,8}+")
        for word in sorted(SQL_STRONG | SQL_WEAK | SQL_OTHER, key=lambda w: (-len(w), w))
    )
    + r")(?!\w)"
)
_NAME: Final = r"[\w.\"`\[\]]{1,128}+"
_KINDS_OF_JOIN: Final = "|".join(
    rf"(?<={kind}\sjoin)"
    for kind in ("inner", "left", "right", "cross", "full", "natural", "outer")
)
_COMPARED: Final = (
    rf"\s{{1,8}}+(?:not\s{{1,8}}+)?{_NAME}(?:\([^()\n]{{0,80}}+\))?\s{{0,8}}+"
    r"(?:[=<>]|!=|like\s{0,8}+'|in\s{0,8}+\(|between\s{1,8}+['0-9]|is\s{1,8}+(?:not\s{1,8}+)?null\b)"
)
# The patterns read lower-cased text. Each starts with its needle, which `re` looks for as fast as
# `in` does; what comes before it is left to a look behind.
_UNMISTAKABLE: Final = {
    "varchar": re.compile(r"varchar(?<!\wvarchar)(?!\w)"),
    # English has a "primary key to success".
    "primary": re.compile(r"primary\s{1,8}+key(?!\w)(?! (?:to|for|in|of)\b)"),
    "foreign": re.compile(r"foreign\s{1,8}+key(?!\w)"),
    "recursive": re.compile(r"recursive(?<=with\srecursive)(?!\w)"),
    "join": re.compile(rf"join(?:{_KINDS_OF_JOIN})(?!\w)"),
}
"""What no one writes in plain English, whatever the case."""
_SHAPES: Final = {
    "insert": re.compile(
        rf"insert\s{{1,8}}+into\s{{1,8}}+{_NAME}\s{{0,8}}+(?:\(|values\b|select\b)"
    ),
    "create": re.compile(
        r"create\s{1,8}+(?:or\s{1,8}+replace\s{1,8}+|temp(?:orary)?\s{1,8}+|unique\s{1,8}+)?"
        r"(?:table|view|index|schema|trigger|procedure|function)\s{1,8}+"
        rf"(?:if\s{{1,8}}+not\s{{1,8}}+exists\s{{1,8}}+)?{_NAME}\s{{0,8}}+(?:\(|as\s|on\s)"
    ),
    "table": re.compile(
        r"table(?:(?<=alter\stable)|(?<=drop\stable)|(?<=truncate\stable))"
        rf"\s{{1,8}}+(?:if\s{{1,8}}+exists\s{{1,8}}+)?{_NAME}"
    ),
    "update": re.compile(rf"update\s{{1,8}}+{_NAME}\s{{1,8}}+set\s{{1,8}}+{_NAME}\s{{0,8}}+="),
    "values": re.compile(r"values\s{0,8}+\((?=\s{0,8}+['\"0-9?:%$])"),
    "select": re.compile(r"select\s{1,8}+(?:distinct\s{1,8}+)?(?:\*|[\w.]{1,64}+\()"),
    "from": re.compile(
        rf"from\s{{1,8}}+{_NAME}(?:\s{{1,8}}+(?:as\s{{1,8}}+)?\w{{1,64}}+)??\s{{1,8}}+"
        rf"(?:(?:order|group)\s{{1,8}}+by\s{{1,8}}+{_NAME}|limit\s{{1,8}}+[0-9]"
        rf"|join\s{{1,8}}+{_NAME}(?:\s{{1,8}}+\w{{1,64}}+)??\s{{1,8}}+(?:on|using)\b)"
    ),
    "where": re.compile(rf"where(?<!\wwhere){_COMPARED}"),
    "having": re.compile(rf"having(?<!\whaving){_COMPARED}"),
}
"""How SQL puts its words; English uses the same ones in other company."""
_VERBS: Final = ("select", "insert", "update", "delete", "create", "alter", "drop", "merge")


def is_sql(view: View) -> bool:
    """Tell whether a text has SQL in it."""
    seen = view.words & (SQL_STRONG_WORDS | SQL_COUNTED_WORDS)
    if not _is_enough(seen, SQL_STRONG_WORDS, SQL_WEAK_WORDS):
        return False
    capitals = [word for word in seen if word.upper() in view.plain]
    if _is_enough(capitals, SQL_STRONG_WORDS, SQL_WEAK_WORDS) and _has_keywords(view.text):
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
        if not (keyword.start() and _is_letter(text[keyword.start() - 1]))
    }
    return _is_enough(keywords, SQL_STRONG, SQL_WEAK)


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


def _is_enough(seen: Collection[T], strong: frozenset[T], weak: frozenset[T]) -> bool:
    return not strong.isdisjoint(seen) or (len(seen) >= _MIN_KEYWORDS and not weak.isdisjoint(seen))
