"""Kinds of tool results: how each breaks into pieces, and what a piece is worth by its kind.

One file a kind, one ordered table. A plan spends a budget over the pieces of a whole
conversation; what else a piece is worth (values used nowhere else, the task at hand, recency)
is its business.
"""

from __future__ import annotations

import re
from typing import Final

from refold.kinds import (
    build_output,
    diff,
    file_read,
    json_records,
    listing,
    log,
    page,
    prose,
    search_hits,
    stack_trace,
    table,
    test_run,
)
from refold.kinds._errors import ROWS, ROWS_OF
from refold.kinds._json_members import is_plain_json
from refold.kinds._lines import begin_below, set_apart, tile
from refold.kinds.base import COLUMNS, ERROR, PLAIN, Grade, Kind, Pieces, take_sample, unwrap

__all__ = ["ERROR", "KINDS", "PLAIN", "Grade", "Kind", "Pieces", "kind_of", "split", "tile"]

KINDS: Final[tuple[Kind, ...]] = (
    json_records.KIND,
    diff.KIND,
    test_run.KIND,
    stack_trace.KIND,
    build_output.KIND,
    log.KIND,
    search_hits.KIND,
    file_read.KIND,
    listing.KIND,
    table.KIND,
    page.KIND,
    prose.KIND,
)
"""The first kind that claims a text has it; the last one claims all."""

_SURE: Final = tuple((kind, kind.is_sure) for kind in KINDS if kind.is_sure is not None)
_ON_ONE_LINE: Final = tuple(kind for kind in KINDS if kind.on_one_line)
_PLAIN_LINE: Final = re.compile(r"[^\n{\[<:]{0,1000}+\Z")
"""One line without what other kinds begin with: most answers of one word or sentence."""
_ROWS_END: Final = re.compile(r"(?<=\n)\]")
_BY_NAME: Final = {kind.name: kind for kind in KINDS}


def kind_of(text: str, tool: str = "", arguments: str = "") -> str:
    """Name the kind of *text*; the *tool* that wrote it and its *arguments* are hints."""
    if _PLAIN_LINE.match(text):
        return prose.KIND.name
    sample = take_sample(text, tool, arguments)
    if "\n" not in sample.text:
        return next(kind.name for kind in _ON_ONE_LINE if kind.claims(sample))
    for kind, is_sure in _SURE:
        if is_sure(sample):
            return kind.name
    claimed = next(kind for kind in KINDS if kind.claims(sample))
    if claimed is prose.KIND and is_plain_json(text):
        return json_records.KIND.name  # prose inside of a frame whose fields are whole, too
    return claimed.name


def split(text: str, kind: str) -> Pieces:
    """Cut *text* into pieces that tile it: no gaps, no empty pieces."""
    pieces = _BY_NAME[kind].split(unwrap(text))
    return _set_rows_apart(text, pieces) if ROWS in text else pieces


def _set_rows_apart(text: str, pieces: Pieces) -> Pieces:
    """Let the names of cells lead the rows below them, and nothing that is below those."""
    names = list(ROWS_OF.finditer(text))
    closing = (found.start() for found in _ROWS_END.finditer(text))
    return begin_below(set_apart(pieces, names, COLUMNS), closing)
