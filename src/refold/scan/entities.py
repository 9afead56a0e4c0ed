"""The names a text speaks of, each once."""

from __future__ import annotations

from itertools import islice

from refold.scan.patterns import (
    ASCII_PROPER_NAME,
    ASCII_QUANTITY,
    IDENTIFIER,
    PATH,
    PROPER_NAME,
    QUANTITY,
    SHORT,
    STARTERS,
    UNIT_WORDS,
    VERSION,
    addresses_and_titles,
)


def extract_entities(text: str, cap: int | None = None) -> list[str]:
    """Return the distinct entities of *text*, kind by kind, at most *cap* (default: by length)."""
    limit = entity_cap(len(text)) if cap is None else cap
    return list(find_names(text)[:limit])


def entity_cap(length: int) -> int:
    """Return how many entities a summary of that many characters may name: 3 to 15."""
    return max(3, min(int(length / 200 + 0.5), 15))


def missing_from(text: str, names: tuple[str, ...], longest: int, most: int) -> list[str]:
    """Return the first *most* of the *names* that *text* does not hold; leave out longer ones."""
    missing = (name for name in names if len(name) <= longest and name not in text)
    return list(islice(missing, most))


_IDENTIFIER_KINDS = ("pascal", "camel", "snake")


def find_names(text: str) -> tuple[str, ...]:
    """Return the people, identifiers, quantities and places that *text* names, each once."""
    addresses, titles = addresses_and_titles(text)
    has_dot = "." in text  # without one there is neither a file nor a version
    found = [
        *_proper_names(text),
        *_identifiers(text),
        *SHORT.findall(text),
        *_quantities(text),
        *(PATH.findall(text) if has_dot else ()),
        *addresses,
        *(VERSION.findall(text) if has_dot else ()),
        *titles,
    ]
    return tuple(dict.fromkeys(found))


def _proper_names(text: str) -> list[str]:
    pattern = ASCII_PROPER_NAME if text.isascii() else PROPER_NAME
    return [
        name
        for name, more in pattern.findall(text)
        if not more and name.partition(" ")[0] not in STARTERS
    ]


def _identifiers(text: str) -> list[str]:
    by_kind: dict[str | None, list[str]] = {kind: [] for kind in _IDENTIFIER_KINDS}
    for match in IDENTIFIER.finditer(text):
        by_kind[match.lastgroup].append(match[0])
    return [name for names in by_kind.values() for name in names]


def _quantities(text: str) -> list[str]:
    found: list[str] = (ASCII_QUANTITY if text.isascii() else QUANTITY).findall(text)
    return [name for name in found if not name.isascii() or _has_unit(name)]


def _has_unit(quantity: str) -> bool:
    return quantity.lstrip("0123456789., ").lower() in UNIT_WORDS
