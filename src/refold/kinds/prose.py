"""Prose in any language, and whatever is no other kind: pieces are sentences."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds._errors import find_in_output, settle
from refold.kinds._lines import GradesByLine, join, tile
from refold.kinds.base import PLAIN, Kind, Pieces

# `refold.scan.sentences` knows abbreviations and wrapped lines better, but takes far longer;
# a cut at "e.g. " costs nothing here, where short neighbours are joined again.
# It begins with a set, which the engine looks for at full speed. Of a run of marks only the first
# one is tried: linear, always.
_END: Final = re.compile(
    r"[\n.!?…。！？｡﹒︒।॥۔؟։።](?:"
    r"(?<=[.!?…])(?<![.!?…]{2})[.!?…]*+[\"'”’)\]»*_]*+(?:[ \t]++\n?+|\n)"  # not in 3.5 or a.json
    r"|(?<=[。！？｡﹒︒])[。！？｡﹒︒]*+[」』”’）》]*+[ \t\n]*+"
    r"|(?<=[।॥۔؟։።])[।॥۔؟։።]*+[\"'”’)\]»]*+[ \t\n]*+"
    r"|(?<=\n)(?:(?![a-z])(?:[ \t\r]*+\n)*+|(?<![^\n]{60}\n)))"  # else the line was only wrapped
)
_ROW: Final = re.compile(r"^[ \t]*+\|[^\n]*+\n?", re.MULTILINE)
"""A row of a table, which stays whole."""


def split_prose(text: str) -> Pieces:
    """Cut prose into sentences."""
    marks: GradesByLine = {}
    spots = settle(text, find_in_output(text), marks)
    if marks:  # what a shell printed, line by line
        return tile(text, marks, spots)
    ends = [found.end() for found in _END.finditer(text)]
    if "|" in text:
        ends = _outside_rows(text, ends)
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return join(text, ends, [PLAIN] * len(ends), spots)


def _outside_rows(text: str, ends: list[int]) -> list[int]:
    """Return the *ends* that are not inside a row of a table."""
    outside: list[int] = []
    at = 0
    for row in _ROW.finditer(text):
        start, stop = row.span()
        while at < len(ends) and ends[at] <= start:
            outside.append(ends[at])
            at += 1
        while at < len(ends) and ends[at] < stop:
            at += 1
    return outside + ends[at:]


KIND: Final = Kind(name="prose", on_one_line=True, is_excerpted=False, split=split_prose)
