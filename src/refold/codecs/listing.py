"""Long directory listings (`ls -l`): one blank between columns instead of padding.

Columns are padded to the widest entry of their block, so the widths follow from the entries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from refold.codecs.base import Codec

_ENTRY: Final = re.compile(
    r"([-dlbcps][-rwxsStT]{9}[.+@]?) +(\d{1,9}) +(\S{1,64})( +)(\S{1,64})( +)"
    r"(\d[\d.,]{0,20}[KMGTP]?) +([A-Z][a-z]{2}) +(\d{1,2}) +(\d\d:\d\d|\d{4}) (.*)"
)
_ANYWHERE: Final = re.compile(r"\n[-dlbcps][-r][-w][-xsS]")
_RIGHT: Final = (False, True, False, False, True, False, True, True)
"""Which columns are padded on the left: links, size, day, time."""
_MIN_WIDTHS: Final = (0, 0, 0, 0, 0, 0, 2, 5)
"""Day and time are padded even where no entry needs it."""


def _sees(text: str) -> bool:
    return _ANYWHERE.search(text) is not None


@dataclass(frozen=True, slots=True)
class _Entry:
    cells: tuple[str, ...]
    name: str
    is_wide: bool
    """Whether two blanks surround the group, as some systems print it."""


def _entry(line: str) -> _Entry | None:
    found = _ENTRY.fullmatch(line)
    if not found:
        return None
    cells = found.groups()
    return _Entry(
        cells=cells[:3] + cells[4:5] + cells[6:10],
        name=cells[10],
        is_wide=len(cells[3]) > 1,
    )


def _blocks(text: str) -> Iterator[list[_Entry] | str]:
    """Yield the runs of entries, and every line between them."""
    block: list[_Entry] = []
    for line in text.split("\n"):
        entry = _entry(line)
        if entry:
            block.append(entry)
            continue
        if block:
            yield block
        block = []
        yield line
    if block:
        yield block


def _rewrite(text: str, write: Callable[[list[_Entry]], list[str]]) -> str:
    out: list[str] = []
    for piece in _blocks(text):
        if isinstance(piece, str):
            out.append(piece)
        else:
            out += write(piece)
    return "\n".join(out)


def _encode(text: str) -> str | None:
    return _rewrite(text, _narrow)


def _narrow(block: list[_Entry]) -> list[str]:
    gap = "  " if all(entry.is_wide for entry in block) else " "
    return [
        f"{' '.join(entry.cells[:3])}{gap}{' '.join(entry.cells[3:])} {entry.name}"
        for entry in block
    ]


def _aligned(block: list[_Entry]) -> list[str]:
    widths = [
        max(least, *(len(entry.cells[column]) for entry in block))
        for column, least in enumerate(_MIN_WIDTHS)
    ]
    gap = "  " if all(entry.is_wide for entry in block) else " "
    gaps = (" ", " ", gap, gap, " ", " ", " ", " ")
    return [
        "".join(
            (cell.rjust(width) if right else cell.ljust(width)) + after
            for cell, width, right, after in zip(entry.cells, widths, _RIGHT, gaps, strict=True)
        )
        + entry.name
        for entry in block
    ]


def _decode(text: str) -> str:
    return _rewrite(text, _aligned)


CODEC: Final = Codec(name="listing", sees=_sees, encode=_encode, decode=_decode)
