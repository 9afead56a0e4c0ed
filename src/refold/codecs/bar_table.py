"""Markdown tables whose cells are padded: one blank where the padding was.

The table stays a Markdown table; its widest cells say how wide the columns were.
"""

from __future__ import annotations

import re
from typing import Final

from refold.codecs.base import Codec, cut_blocks, widths_of
from refold.rows import Needs

_ROW: Final = re.compile(r"\|.*\|")
_ROW_BELOW: Final = re.compile(r"\n\|")
_RULE: Final = re.compile(r":?-{2,}:?")


def _encode(text: str) -> str | None:
    if "---" not in text:
        return None
    out: list[str] = []
    for is_table, lines in cut_blocks(text.split("\n"), _is_row):
        if not is_table:
            out += lines
            continue
        narrow = [_narrow(line) for line in lines]
        # Lines of different lengths are padded in no regular way.
        if len(set(map(len, lines))) > 1 or _widened(narrow) != lines:
            return None
        out += narrow
    return "\n".join(out)


def _is_row(line: str) -> bool:
    return line[:1] == "|" and _ROW.fullmatch(line) is not None


def _cells(line: str) -> list[str]:
    return [cell.strip(" ") for cell in line[1:-1].split("|")]


def _is_rule(cells: list[str]) -> bool:
    return all(_RULE.fullmatch(cell) for cell in cells)


def _narrow(line: str) -> str:
    cells = _cells(line)
    if not _is_rule(cells):
        return _row(cells, " ")
    gap = " " if line[1] == " " else ""
    return _row([_rule(cell, 3) for cell in cells], gap)


def _row(cells: list[str], gap: str) -> str:
    return f"|{gap}" + f"{gap}|{gap}".join(cells) + f"{gap}|"


def _decode(text: str) -> str:
    out: list[str] = []
    for is_table, lines in cut_blocks(text.split("\n"), _is_row):
        out += _widened(lines) if is_table else lines
    return "\n".join(out)


def _widened(lines: list[str]) -> list[str]:
    rows = [_cells(line) for line in lines]
    widths = widths_of([row for row in rows if not _is_rule(row)])
    out: list[str] = []
    for line, row in zip(lines, rows, strict=True):
        if len(row) > len(widths):
            return lines  # rules alone
        if _is_rule(row):
            gap = " " if line[1] == " " else ""
            wider = 0 if gap else 2
            cells = [_rule(cell, width + wider) for cell, width in zip(row, widths, strict=False)]
            out.append(_row(cells, gap))
        else:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            out.append(_row(cells, " "))
    return out


def _rule(cell: str, width: int) -> str:
    """Draw the line below a heading, with the colons that say how its column is set."""
    return cell[0] + "-" * (max(width, 3) - 2) + cell[-1]


CODEC: Final = Codec(name="bar_table", encode=_encode, decode=_decode, needs=Needs(_ROW_BELOW))
