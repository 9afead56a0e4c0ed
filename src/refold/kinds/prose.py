"""Prose in any language, and whatever is no other kind: pieces are sentences."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds._lines import join, tile
from refold.kinds._rules import Marks
from refold.kinds._sample import Sample
from refold.kinds._trouble import find_in_output, settle
from refold.kinds.base import PLAIN, Kind, Pieces

# `refold.text.sentences` knows abbreviations and wrapped lines better, but takes far longer;
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


def _claims(_sample: Sample) -> bool:
    return True


def split_prose(text: str) -> Pieces:
    """Cut prose into sentences."""
    marks: Marks = {}
    spots = settle(text, find_in_output(text), marks)
    if marks:  # what a shell printed, line by line
        return tile(text, marks, spots)
    ends = [found.end() for found in _END.finditer(text)]
    if not ends or ends[-1] < len(text):
        ends.append(len(text))
    return join(text, ends, [PLAIN] * len(ends), spots)


KIND: Final = Kind(
    name="prose", claims=_claims, on_one_line=True, is_excerpted=False, split=split_prose
)
