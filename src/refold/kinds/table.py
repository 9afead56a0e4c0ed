"""Tables: CSV, TSV and columns between bars; without its header a row means nothing."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds._errors import split_source
from refold.kinds._lines import END, any_of, line_rules
from refold.kinds.base import NOISE, TABLE_HEAD, Grade, Kind, Pieces, Sample
from refold.rows import Needs

_ROW: Final = Grade("record", 1.0)

_RULE: Final = any_of(rf"[ \t|+:=-]{{3,}}+{END}", r"\([0-9]++ rows?\)")
_IS_RULE: Final = re.compile(_RULE)
_MARKS: Final = line_rules("", (NOISE, _RULE), (_ROW, r"[^\n]{3}"))
_COLUMNS: Final = (("\t", 1), (",", 2), (";", 2), ("|", 2))
"""What parts the cells, and how many there must be for a table."""
_QUOTED: Final = re.compile(r'"[^"\n]*+"')
_PROSE_GAP: Final = re.compile(r"[,;] ")


def _claims(sample: Sample) -> bool:
    lines = sample.lines
    return any(_agree(lines, mark, least) for mark, least in _COLUMNS)


def _agree(lines: list[str], mark: str, least: int) -> bool:
    """Return whether nearly all lines have as many columns as the first, and it is no prose."""
    columns = lines[0].strip().count(mark)
    if columns < least:
        return False  # nearly every text ends here
    rows = [_QUOTED.sub("", line) for line in lines if not _IS_RULE.match(line)]
    alike = sum(1 for row in rows if row.strip().count(mark) == columns)
    if len(rows) < 3 or alike < 0.8 * len(rows):
        return False
    return mark in "\t|" or sum(1 for row in rows if _PROSE_GAP.search(row)) < 0.5 * len(rows)


def split_table(text: str) -> Pieces:
    """Cut a table into its header and its rows."""
    marks = _MARKS(text)
    first = next((start for start, grade in marks.items() if grade is _ROW), None)
    if first is not None:
        marks[first] = TABLE_HEAD
    return split_source(text, marks)


KIND: Final = Kind(
    name="table",
    claims=_claims,
    needs=Needs(("\t", ",", ";", "|"), line_breaks=3),
    split=split_table,
)
