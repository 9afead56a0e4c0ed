"""Sees SQL, in capitals or not, and tells it from English that uses the same words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from refold.detectors.base import Detector, Span
from refold.scan.prefilter import Needs, words_of
from refold.scan.view import TextView

# One strong keyword is enough; of the others it takes three, a weak one among them.
# fmt: off
_STRONG: Final = frozenset({
    "RETURNING", "CONSTRAINT", "CASCADE", "INTEGER", "BOOLEAN", "TRUNCATE", "UPSERT", "VARCHAR",
    "GROUP BY", "ORDER BY", "PRIMARY KEY", "FOREIGN KEY", "NOT NULL", "ON CONFLICT",
    "WITH RECURSIVE", "INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN", "FULL JOIN",
    "NATURAL JOIN",
})
_WEAK: Final = frozenset({
    "WHERE", "JOIN", "HAVING", "UNION", "DISTINCT", "OFFSET", "VALUES", "MERGE", "GRANT",
    "REVOKE", "CURSOR", "DECLARE", "PROCEDURE", "TRIGGER",
})
_OTHER: Final = frozenset({
    "SELECT", "FROM", "INSERT", "INTO", "UPDATE", "SET", "DELETE", "CREATE", "ALTER", "DROP",
    "LIMIT", "FETCH", "SCHEMA", "VIEW",
})
# fmt: on
_MIN_KEYWORDS: Final = 3

_STRONG_WORDS: Final = words_of(
    "returning constraint cascade integer boolean truncate upsert varchar group order key null "
    "conflict recursive join"
)
"""One of these stands in everything that is SQL by itself, such as GROUP BY and NOT NULL."""
_WEAK_WORDS: Final = words_of(" ".join(_WEAK).lower())
_OTHER_WORDS: Final = words_of(" ".join(_OTHER).lower())

# Longer alternatives first, so that the JOIN of a LEFT JOIN is not a keyword of its own.
_ALTERNATIVES: Final = "|".join(
    keyword.replace(" ", r"\s{1,8}+")
    for keyword in sorted(_STRONG | _WEAK | _OTHER, key=lambda word: (-len(word), word))
)
# No word boundary in front: a pattern that starts with letters lets `re` skip all other text fast.
_CAPITALS: Final = re.compile(rf"(?:{_ALTERNATIVES})(?!\w)")
_ANY_CASE: Final = re.compile(rf"\b(?:{_ALTERNATIVES})\b", re.IGNORECASE)

# The patterns below read lower-cased text. Each starts with its needle, for which `re` searches as
# fast as `in` does; what comes before it is left to a look behind.
_AFTER_JOIN_KIND: Final = "|".join(
    rf"(?<={kind}\sjoin)"
    for kind in ("inner", "left", "right", "cross", "full", "natural", "outer")
)
_UNMISTAKABLE: Final = tuple(
    (needle, re.compile(pattern))
    for needle, pattern in (
        ("varchar", r"varchar(?<!\wvarchar)(?!\w)"),
        # English has a "primary key to success".
        ("primary", r"primary\s{1,8}+key(?!\w)(?! (?:to|for|in|of)\b)"),
        ("foreign", r"foreign\s{1,8}+key(?!\w)"),
        ("recursive", r"recursive(?<=with\srecursive)(?!\w)"),
        ("join", rf"join(?:{_AFTER_JOIN_KIND})(?!\w)"),
    )
)
"""What no one writes in plain English, whatever the case."""
_UNMISTAKABLE_WORDS: Final = frozenset((b"varchar", b"key", b"recursive", b"join"))
_COUNTED: Final = _WEAK_WORDS | _OTHER_WORDS

_NAME: Final = r"[\w.\"`\[\]]{1,128}+"
_VERBS: Final = ("select", "insert", "update", "delete", "create", "alter", "drop", "merge")
_SHAPES: Final = tuple(
    (needle, re.compile(pattern))
    for needle, pattern in (
        ("insert", rf"insert\s{{1,8}}+into\s{{1,8}}+{_NAME}\s{{0,8}}+(?:\(|values\b|select\b)"),
        (
            "create",
            r"create\s{1,8}+(?:or\s{1,8}+replace\s{1,8}+|temp(?:orary)?\s{1,8}+|unique\s{1,8}+)?"
            r"(?:table|view|index|schema|trigger|procedure|function)\s{1,8}+"
            rf"(?:if\s{{1,8}}+not\s{{1,8}}+exists\s{{1,8}}+)?{_NAME}\s{{0,8}}+(?:\(|as\s|on\s)",
        ),
        (
            "table",
            r"table(?:(?<=alter\stable)|(?<=drop\stable)|(?<=truncate\stable))"
            rf"\s{{1,8}}+(?:if\s{{1,8}}+exists\s{{1,8}}+)?{_NAME}",
        ),
        ("update", rf"update\s{{1,8}}+{_NAME}\s{{1,8}}+set\s{{1,8}}+{_NAME}\s{{0,8}}+="),
        ("values", r"values\s{0,8}+\((?=\s{0,8}+['\"0-9?:%$])"),
        ("select", r"select\s{1,8}+(?:distinct\s{1,8}+)?(?:\*|[\w.]{1,64}+\()"),
        (
            "from",
            rf"from\s{{1,8}}+{_NAME}(?:\s{{1,8}}+(?:as\s{{1,8}}+)?\w{{1,64}}+)??\s{{1,8}}+"
            rf"(?:(?:order|group)\s{{1,8}}+by\s{{1,8}}+{_NAME}|limit\s{{1,8}}+[0-9]"
            rf"|join\s{{1,8}}+{_NAME}(?:\s{{1,8}}+\w{{1,64}}+)??\s{{1,8}}+(?:on|using)\b)",
        ),
        *(
            (
                word,
                rf"{word}(?<!\w{word})\s{{1,8}}+(?:not\s{{1,8}}+)?{_NAME}(?:\([^()\n]{{0,80}}+\))?\s{{0,8}}+"
                r"(?:[=<>]|!=|like\s{0,8}+'|in\s{0,8}+\(|between\s{1,8}+['0-9]"
                r"|is\s{1,8}+(?:not\s{1,8}+)?null\b)",
            )
            for word in ("where", "having")
        ),
    )
)
"""How SQL puts its words; English uses the same ones in other company."""


def _find(view: TextView) -> Iterator[Span]:
    seen = view.words & (_STRONG_WORDS | _COUNTED)
    if not _may_be_enough(seen):
        return
    capitals = frozenset(word for word in seen if word.upper() in view.plain)
    if (
        (_may_be_enough(capitals) and _in_capitals(view.text))
        or (not _UNMISTAKABLE_WORDS.isdisjoint(seen) and _is_unmistakable(view.lower))
        or _has_shape(view)
    ):
        yield 0, len(view.text)


def _may_be_enough(seen: frozenset[bytes]) -> bool:
    """Tell whether texts with these words can have the keywords that it takes."""
    if not _STRONG_WORDS.isdisjoint(seen):
        return True
    return not _WEAK_WORDS.isdisjoint(seen) and len(seen & _COUNTED) >= _MIN_KEYWORDS


def _in_capitals(text: str) -> bool:
    seen: set[str] = set()
    for found in _CAPITALS.finditer(text):
        start = found.start()
        if start and (text[start - 1].isalnum() or text[start - 1] == "_"):
            continue
        seen.add(" ".join(found[0].split()))
        if _is_enough(seen):
            return True
    return False


def _is_unmistakable(lower: str) -> bool:
    return any(needle in lower and pattern.search(lower) for needle, pattern in _UNMISTAKABLE)


def _has_shape(view: TextView) -> bool:
    """Tell whether words of any case stand the way SQL puts them, and are enough of them."""
    lower = view.lower
    if not any(verb in lower for verb in _VERBS):
        return False
    if not any(needle in lower and pattern.search(lower) for needle, pattern in _SHAPES):
        return False
    seen: set[str] = set()
    for found in _ANY_CASE.finditer(view.text):
        seen.add(" ".join(found[0].upper().split()))
        if _is_enough(seen):
            return True
    return False


def _is_enough(seen: set[str]) -> bool:
    return not _STRONG.isdisjoint(seen) or (
        len(seen) >= _MIN_KEYWORDS and not _WEAK.isdisjoint(seen)
    )


DETECTOR: Final = Detector(
    reason="sql_content",
    hard=True,
    needs=Needs(words=_STRONG_WORDS | _WEAK_WORDS),
    find=_find,
)
