"""Kinds of tool results: how each breaks into pieces, and what a piece is worth by its kind.

One file a kind, one ordered table. A plan spends a budget over the pieces of a whole
conversation; what else a piece is worth (values used nowhere else, the task at hand, recency)
is its business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar, Final

from refold.errors import ConfigError
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
from refold.kinds._lines import begin_below, set_apart, tile
from refold.kinds.base import (
    COLUMNS,
    ERROR,
    PLAIN,
    Grade,
    Kind,
    Pieces,
    Sample,
    take_sample,
    unwrap,
)
from refold.rows import Table

__all__ = [
    "ERROR",
    "KINDS",
    "PLAIN",
    "TABLE",
    "Grade",
    "Kind",
    "KindTable",
    "Pieces",
    "Sample",
    "kind_of",
    "split",
    "table_of",
    "tile",
]

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

_PLAIN_LINE: Final = re.compile(r"[^\n{\[<:]{0,1000}+\Z")
"""One line without a sign that other kinds begin with: most answers of a word or a sentence."""
_ROWS_END: Final = re.compile(r"(?<=\n)\]")


class KindTable(Table[Kind]):
    """Kinds in the order in which they claim texts; what none of them claims is prose."""

    row_type: ClassVar[type] = Kind
    plural: ClassVar[str] = "kinds"

    def __init__(self, rows: Sequence[Kind]) -> None:
        super().__init__(rows)
        self._sure: Final = [(kind, kind.is_sure) for kind in rows if kind.is_sure]
        self._on_one_line: Final = tuple(kind for kind in rows if kind.on_one_line)
        self._by_name: Final = {kind.name: kind for kind in (*KINDS, *rows)}
        self._unproven: Final = frozenset(kind.name for kind in rows if kind not in KINDS)

    def kind_of(self, text: str, tool: str = "", arguments: str = "") -> str:
        """Name the kind of *text*; the *tool* that wrote it and its *arguments* are hints."""
        if _PLAIN_LINE.match(text):
            return prose.KIND.name
        sample = take_sample(text, tool, arguments)
        if "\n" not in sample.text:
            return _first(self._on_one_line, sample).name
        for kind, is_sure in self._sure:
            if is_sure(sample):
                return kind.name
        claimed = _first(self.rows, sample)
        if claimed is prose.KIND and json_records.is_plain_json(text):
            return json_records.KIND.name  # prose inside of a frame whose fields are whole, too
        return claimed.name

    def split(self, text: str, kind: str) -> Pieces:
        """Cut *text* into pieces that tile it: no gaps, no empty pieces.

        Raises `ConfigError` for a kind of the caller's that cuts it otherwise.
        """
        pieces = self._by_name[kind].split(unwrap(text))
        if kind in self._unproven:
            _check_tiles(text, kind, pieces)
        return _set_rows_apart(text, pieces) if ROWS in text else pieces


def _check_tiles(text: str, kind: str, pieces: Pieces) -> None:
    ends = [0, *pieces.ends]
    is_cut = all(start < end for start, end in pairwise(ends)) and ends[-1] == len(text)
    if not is_cut or len(pieces.ends) != len(pieces.grades):
        raise ConfigError(
            f"kind {kind!r} must cut a text into pieces with a grade each, from its beginning to "
            f"its end; got {len(pieces.grades)} grades, and pieces that end at {pieces.ends[:8]} "
            f"for a text of {len(text)} characters"
        )


def _first(kinds: Sequence[Kind], sample: Sample) -> Kind:
    framed, lines = f"{sample.block}\n", len(sample.lines)
    for kind in kinds:
        if kind.needs.are_met(framed, lines) and kind.claims(sample):
            return kind
    return prose.KIND


TABLE: Final = KindTable(KINDS)
kind_of: Final = TABLE.kind_of
split: Final = TABLE.split
table_of: Final = TABLE.choose


def _set_rows_apart(text: str, pieces: Pieces) -> Pieces:
    """Make each header of rows lead the rows below it, and nothing after them."""
    names = list(ROWS_OF.finditer(text))
    closing = (found.start() for found in _ROWS_END.finditer(text))
    return begin_below(set_apart(pieces, names, COLUMNS), closing)
