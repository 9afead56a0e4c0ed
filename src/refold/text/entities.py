"""The names a text speaks of: people, identifiers, quantities, files, addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from refold.text.alphabet import IDEOGRAPHS, LOWER, UPPER

CAMEL: Final = r"[a-z][a-z0-9]*+(?:[A-Z]++[a-z0-9]*+)++"
PASCAL: Final = r"[A-Z][a-z0-9]++(?:[A-Z]++[a-z0-9]*+)++"
SNAKE: Final = r"[a-z][a-z0-9]*+(?:_[a-z0-9]++)++|[A-Z][A-Z0-9]*+(?:_[A-Z0-9]++)++"
VOWELLESS: Final = r"(?i:[bcdfghjklmnpqrstvwxz]{3,}+)"
NUMBER: Final = r"[0-9]++(?:[.,][0-9]++)*+"

_UNITS: Final = (
    r"seconds?|retr(?:y|ies)|attempts?|[MGTK]i?B|[mµn]s|minutes?|hours?|days?|weeks?|bytes?|"
    r"workers?|threads?|nodes?|replicas?|instances?|users?|requests?|errors?|percent|"
    r"[kcm]?m|kg|[MG]?Hz|tokens?|USD|EUR"
)
_PROPER: Final = rf"[{UPPER}][{LOWER}]++(?: [{UPPER}][{LOWER}]++)*+(?![\w])"
# Looking back at the extension keeps the path itself possessive, hence linear.
_AFTER_EXTENSION: Final = (
    "(?:" + "|".join(rf"(?<=\.[A-Za-z][A-Za-z0-9]{{{n}}})" for n in range(6)) + ")"
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of entity; texts without any of the *needles* cannot hold it."""

    pattern: re.Pattern[str]
    needles: str = ""

    def find(self, text: str) -> Iterator[str]:
        """Yield what is found, with repetitions."""
        if self.needles and not any(needle in text for needle in self.needles):
            return
        for found in self.pattern.finditer(text):
            entity = found[found.lastindex or 0].rstrip(_TRAILING)
            if entity:
                yield entity


_KINDS: Final = tuple(
    _Kind(re.compile(pattern), needles)
    for pattern, needles in (
        (rf"(?<![\w])(?:{PASCAL})(?![\w])", ""),
        (rf"(?<![\w])(?:{CAMEL})(?![\w])", ""),
        (rf"(?<![\w])(?:{SNAKE})(?![\w])", "_"),
        (rf"(?<![\w'])(?:{VOWELLESS})(?![\w'])", ""),
        (
            rf"(?<![^\W{IDEOGRAPHS}])(?<![.,]){NUMBER}"
            rf"(?:%| ?(?i:{_UNITS})(?![\w])|[{IDEOGRAPHS}]{{1,2}})",
            "0123456789",
        ),
        (
            rf"(?<![\w./-])(?:\.{{0,2}}/)?+[\w-]++(?:[./][\w-]++)++{_AFTER_EXTENSION}(?![\w/])",
            ".",
        ),
        (r"https?://[^\s<>\"'`]++", ":"),
        (r"(?<![\w.,])v?[0-9]++\.[0-9]++(?:\.[0-9]++)?(?![\w.])", "."),
        (r"[「『《]([^「」『』《》\n]{1,30})[」』》]", "「『《"),
    )
)
_PROPER_NAME: Final = re.compile(rf"(?<![\w]){_PROPER}")
_VOWELLESS_KIND: Final = 3
_TRAILING: Final = ".,;:!?)]}'\""

_STARTERS: Final = frozenset(
    "The This That These Those When Where What Which Who How Why Here There Now Then But And Or So "
    "If It Its My Your His Her Our They We You He She In On At To For With From As By An Each "
    "Every Some All Most Many Much Any No Not Also Just Only Even Still Yet Let See Note Yes Sure "
    "Great Thanks Well First Second Third Next Last Finally However After Before Since Once While "
    "Although Because Unless Until About Over Under Between Into Nothing Nobody Everything "
    "Everyone Someone Something Anyone Please Perhaps Maybe Today Tomorrow Yesterday".split()
)


def extract_entities(text: str, cap: int | None = None) -> list[str]:
    """Return the distinct entities of *text*, kind by kind, at most *cap* (default: by length)."""
    limit = entity_cap(len(text)) if cap is None else cap
    found: dict[str, None] = {}
    for entity in iter_entities(text):
        found.setdefault(entity)
        if len(found) >= limit:
            break
    return list(found)[:limit]


def entity_cap(length: int) -> int:
    """Return how many entities a summary of that many characters may name: 3 to 15."""
    return max(3, min(int(length / 200 + 0.5), 15))


def iter_entities(text: str) -> Iterator[str]:
    """Yield every entity of *text*, kind by kind, with repetitions."""
    for found in _PROPER_NAME.finditer(text):
        words = found[0]
        if words.split(" ", 1)[0] not in _STARTERS:
            yield words
    for number, kind in enumerate(_KINDS):
        for entity in kind.find(text):
            yield entity.lower() if number == _VOWELLESS_KIND else entity
