"""Long directory listings (`ls -l`): one blank between columns instead of padding.

Columns are padded to the widest entry of their block, so the widths follow from the entries.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from refold.codecs.base import Codec
from refold.rows import Needs

_ENTRY: Final = re.compile(
    r"([-dlbcps][-rwxsStT]{9}[.+@]?) +(\d{1,9}) +(\S{1,64})( +)(\S{1,64})( +)"
    r"(\d[\d.,]{0,20}[KMGTP]?) +([A-Z][a-z]{2}) +(\d{1,2}) +(\d\d:\d\d|\d{4}) (.*)"
)
_ANYWHERE: Final = re.compile(r"\n[-dlbcps][-rwxsStT]{9}[.+@]? ")
_RIGHT: Final = (False, True, False, False, True, False, True, True)
"""Which columns are padded on the left: links, size, day, time."""
_MIN_WIDTHS: Final = (0, 0, 0, 0, 0, 0, 2, 5)
"""Day and time are padded even where no entry needs it."""


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


def _rewrite(text: str, write: Callable[[list[_Entry]], list[str]]) -> str:
    """Write each run of entries anew; every line between them stays."""
    out: list[str] = []
    pairs = ((line, _entry(line)) for line in text.split("\n"))
    for is_block, run in groupby(pairs, key=lambda pair: pair[1] is not None):
        lines, entries = zip(*run, strict=True)
        out += write(list(entries)) if is_block else lines
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


CODEC: Final = Codec(name="listing", encode=_encode, decode=_decode, needs=Needs(_ANYWHERE))
