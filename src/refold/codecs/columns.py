"""Columns set apart by blanks alone: a tab where the padding was.

    [columns <<>, 2 apart]
    NAME<tab>STATE<tab>RESTARTS
    queue-7<tab>Running<tab>0

The first line says to which side each column was set, and how many blanks stood between the widest
cells.
"""

from __future__ import annotations

import re
from typing import Final

from refold.codecs.base import Codec, Rows, cut_blocks, unreadable, widths_of
from refold.rows import Needs

_CELL: Final = re.compile(r"\S++(?: \S++)*+")
_MARK: Final = "[columns "
_HEADING: Final = re.compile(r"\[columns ([<>]{2,99}), (\d{1,2}) apart\]")
_MIN_ROWS: Final = 3
"""Two lines are aligned by chance. From 2 to 6 the recorded results are the same."""
_MAX_COLUMNS: Final = 99
"""The most that `_HEADING` reads back, like the next; no table for people has more."""
_MAX_GAP: Final = 99
"""Blanks between two columns."""


def _encode(text: str) -> str | None:
    all_lines = text.split("\n")
    if sum(["  " in line.strip(" ") for line in all_lines]) < _MIN_ROWS:
        return None
    out: list[str] = []
    found = False
    for is_block, lines in cut_blocks(all_lines, _has_gap):
        may_be = is_block and len(lines) >= _MIN_ROWS and _sides(lines[:_MIN_ROWS])
        rows = [_CELL.findall(line) for line in lines] if may_be else []
        heading = _heading(lines, rows) if rows else None
        if heading:
            found = True
            out.append(heading)
            out += ["\t".join(row) for row in rows]
        else:
            out += lines
    return "\n".join(out) if found else None


def _has_gap(line: str) -> bool:
    return "  " in line.strip(" ")


def _heading(lines: list[str], rows: Rows) -> str | None:
    """Return the line that announces the table; `None` if the columns are not aligned."""
    sides = _sides(lines)
    if sides is None:
        return None
    widths = widths_of(rows)
    _, second, *_ = _CELL.finditer(lines[0])
    start = second.start() if sides[1] == "<" else second.end() - widths[1]
    gap = start - widths[0]
    is_aligned = 0 < gap <= _MAX_GAP and _aligned(rows, sides, gap) == lines
    return f"{_MARK}{sides}, {gap} apart]" if is_aligned else None


def _sides(lines: list[str]) -> str | None:
    """Return to which side each column is set; `None` if some column is set to neither."""
    spans = [[match.span() for match in _CELL.finditer(line)] for line in lines]
    if len(set(map(len, spans))) != 1 or not 2 <= len(spans[0]) <= _MAX_COLUMNS:
        return None
    sides = ""
    for column in zip(*spans, strict=True):
        starts, ends = map(set, zip(*column, strict=True))
        if len(starts) > 1 and len(ends) > 1:
            return None
        sides += "<" if len(starts) == 1 else ">"
    return sides


def _aligned(rows: Rows, sides: str, gap: int) -> list[str]:
    widths = widths_of(rows)
    if sides[-1] == "<":
        widths[-1] = 0  # nothing stands behind the last column
    return [
        (" " * gap).join(
            cell.rjust(width) if side == ">" else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides, strict=True)
        )
        for row in rows
    ]


def _decode(text: str) -> str:
    out: list[str] = []
    rows: Rows = []
    form: re.Match[str] | None = None
    for line in [*text.split("\n"), ""]:
        if form and "\t" in line:
            rows.append(line.split("\t"))
            if len(rows[-1]) != len(form[1]):
                raise unreadable(CODEC.name, line)
            continue
        if form:
            out += _aligned(rows, form[1], int(form[2]))
            rows = []
        form = _HEADING.fullmatch(line) if line.startswith(_MARK) else None
        if not form:
            out.append(line)
    return "\n".join(out[:-1])


CODEC: Final = Codec(
    name="columns",
    encode=_encode,
    decode=_decode,
    needs=Needs("  ", lacks=("\t", _MARK), line_breaks=_MIN_ROWS - 1),
)
