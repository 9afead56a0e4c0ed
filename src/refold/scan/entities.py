"""The names a text speaks of, each once."""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import islice
from typing import NamedTuple

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
    return list(_find_names(text)[:limit])


def entity_cap(length: int) -> int:
    """Return how many entities a summary of that many characters may name: 3 to 15."""
    return max(3, min(int(length / 200 + 0.5), 15))


def iter_entities(text: str) -> Iterator[str]:
    """Yield every entity of *text* once, kind by kind."""
    return iter(_find_names(text))


def missing_from(text: str, names: tuple[str, ...], longest: int, most: int) -> list[str]:
    """Return the first *most* of the *names* that *text* does not hold; leave out longer ones."""
    missing = (name for name in names if len(name) <= longest and name not in text)
    return list(islice(missing, most))


class TextsByMessage(NamedTuple):
    """Texts before or after a fold, and in which message after it each stands, or would stand."""

    texts: list[str]
    places: list[int]


class NameFinder:
    """Finds the names in texts, and remembers them."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def __len__(self) -> int:
        """Return in how many texts names were looked for."""
        return len(self._known)

    def find(self, text: str) -> tuple[str, ...]:
        """Return the people, identifiers, quantities and places that *text* names, each once."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = _find_names(text)
        return known

    def keep_only(self, texts: Container[str]) -> None:
        """Forget the names in all other texts."""
        self._known = {text: names for text, names in self._known.items() if text in texts}

    def count_survivors(
        self, before: TextsByMessage, after: TextsByMessage
    ) -> tuple[int, int, int]:
        """Count the names *before*, those of them *after*, and those where they were said first."""
        said = [self.find(text) for text in before.texts]
        shown = [self.find(text) for text in after.texts]
        introduced: dict[str, int] = {}
        for number in range(len(said) - 1, -1, -1):  # backwards, so that the first mention stands
            introduced.update(dict.fromkeys(said[number], before.places[number]))
        in_use: set[str] = set()
        in_place: set[str] = set()
        for names, place in zip(shown, after.places, strict=True):
            for name in names:
                first = introduced.get(name)
                if first is not None:
                    in_use.add(name)
                    if first == place:
                        in_place.add(name)
        return len(introduced), len(in_use), len(in_place)


_IDENTIFIER_KINDS = ("pascal", "camel", "snake")


def _find_names(text: str) -> tuple[str, ...]:
    """Return every name in *text* once, kind by kind, in reading order."""
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
