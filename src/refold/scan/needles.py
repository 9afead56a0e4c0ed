"""Which of many short words a text holds, and where others may begin, in one pass.

Plain Python searches for each word in turn, and leaves the places of the others to a pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import pack
from typing import Final, NamedTuple

from refold.native import Scanner

_SYMBOLS: Final = 128
"""The characters of ASCII. This and the numbers below are `csrc/needles.c`'s, too."""
_OTHER: Final = "\x01"
"""Stands for every character beyond ASCII."""
_MAX_WORD: Final = 20
_MAX_WORDS: Final = 1024
"""So much of a word is compared, and so many words there may be: the tables of C have that size."""
_PLACED: Final = 1
_AT_BEGINNING: Final = 2
_LAST: Final = 4
"""Bits of a row: asked for by its place; only at the beginning of a word; the last of its list."""


class Seen(NamedTuple):
    """What was seen in a text."""

    signs: list[str]
    """Those of the signs that it holds, and maybe others that begin like that."""
    places: list[int] | None
    """The only places where a word may begin; `None` if unknown, as without the scanner."""


class Needles:
    """Looks for *signs* in texts, and for the places of *words*.

    Of the words those that are true in the mapping count only where a word, or a hump of one,
    begins. All is in lower case; of a long word its first letters are enough.
    """

    def __init__(
        self, signs: Iterable[str], words: Mapping[str, bool], scanner: Scanner | None
    ) -> None:
        self._signs = tuple(dict.fromkeys(signs))
        self._scanner = scanner
        if len(self._signs) > _MAX_WORDS:
            raise ValueError(f"there are {_MAX_WORDS} signs at most, got {len(self._signs)}")
        self._heads, self._rows = b"", b""
        if scanner is not None:
            self._heads, self._rows = _make_tables(self._signs, words)

    def search(self, text: str, lower: str) -> Seen:
        """Look at a text; *lower* is the same in lower case, place by place."""
        if self._scanner is None:
            return Seen([sign for sign in self._signs if sign in lower], None)
        numbers, places = self._scanner.needles(text, lower, self._heads, self._rows)
        return Seen([self._signs[number] for number in numbers], places)


def _make_tables(signs: Iterable[str], words: Mapping[str, bool]) -> tuple[bytes, bytes]:
    """Return where the rows of each two characters begin, and the rows."""
    wanted = [(sign, number, 0) for number, sign in enumerate(signs)]
    for word, begins in words.items():
        wanted.append((word, 0, _PLACED | (_AT_BEGINNING if begins else 0)))
    by_head: dict[str, dict[tuple[str, int, int], None]] = {}
    for word, number, flags in wanted:
        spelled = "".join([char if char.isascii() else _OTHER for char in word[:_MAX_WORD]])
        for head in [spelled[:2]] if len(spelled) > 1 else [spelled + chr(n) for n in range(128)]:
            by_head.setdefault(head, {})[spelled, number, flags] = None
    heads = [0] * _SYMBOLS**2
    rows: list[bytes] = []
    for head, listed in by_head.items():
        heads[ord(head[0]) * _SYMBOLS + ord(head[1])] = len(rows) + 1
        for place, (word, number, flags) in enumerate(listed, 1):
            last = _LAST if place == len(listed) else 0
            row = (number, len(word), flags | last, word.encode())
            rows.append(pack(f"=HBB{_MAX_WORD}s", *row))
    return pack(f"={len(heads)}H", *heads), b"".join(rows)
