"""Finding names with the patterns that say what they look like, one kind after the other."""

from __future__ import annotations

from refold.text.name_patterns import (
    ASCII_PROPER_NAME,
    ASCII_QUANTITY,
    ASCII_UNITS,
    IDENTIFIER,
    PATH,
    PROPER_NAME,
    QUANTITY,
    SHORT,
    STARTERS,
    VERSION,
    addresses_and_titles,
)

_IDENTIFIER_KINDS = ("pascal", "camel", "snake")


class PatternNames:
    """Finds the names in texts; remembers nothing."""

    def find(self, text: str, /) -> tuple[str, ...]:
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

    def count_survivors(
        self,
        said: list[tuple[str, ...]],
        said_in: list[int],
        shown: list[tuple[str, ...]],
        shown_in: list[int],
        /,
    ) -> tuple[int, int, int]:
        """Count the names *said*, those of them *shown*, and those shown where first said."""
        introduced: dict[str, int] = {}
        for number in range(len(said) - 1, -1, -1):  # backwards, so that the first mention stands
            introduced.update(dict.fromkeys(said[number], said_in[number]))
        in_use: set[str] = set()
        in_place: set[str] = set()
        for names, place in zip(shown, shown_in, strict=True):
            for name in names:
                first = introduced.get(name)
                if first is not None:
                    in_use.add(name)
                    if first == place:
                        in_place.add(name)
        return len(introduced), len(in_use), len(in_place)


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
    return quantity.lstrip("0123456789., ").lower() in ASCII_UNITS
