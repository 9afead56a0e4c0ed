"""Lists of like records: the first one written out, the others as rows below its names.

    [{title="The build fails on a clean checkout" state=open votes:12}
    rows of title|votes, the rest as above:
    Two words are missing in the manual|3
    Nothing happens after the second click|""
    ]

The first record says which names have texts (`=`) and which have anything else (`:`). Where a row
differs from that, a text is quoted and anything else has a colon before it. An empty cell stands
for a name that the record does not have.
"""

from __future__ import annotations

import re
from typing import Final, TypeGuard

from refold.codecs.base import count_words
from refold.codecs.json_tree import (
    DECODER,
    NESTED,
    Json,
    MisspelledError,
    minify,
    quote,
    read_quoted,
)

ROWS: Final = "\nrows of "
BARE_KEY: Final = re.compile(r"[^\s\"{}\[\],=:|<>\x00-\x1f\x7f-\x9f]+")
_REST: Final = ", the rest as above"
_CELL: Final = re.compile(r"[^\s\":\]|\x00-\x1f\x7f-\x9f][^|\n\x00-\x1f\x7f-\x9f]*")
_MIN_RECORDS: Final = 3
"""Tuned on 3,050 recorded results: with 2 a head of columns costs more than it saves (.2 % less in
all), with 5 small lists stay long (.4 %)."""

Record = dict[str, Json]


def is_text(value: Json) -> TypeGuard[str]:
    """Tell a text from a number, which is kept as it was spelled."""
    return type(value) is str


def write_rows(items: list[Json]) -> str | None:
    """Write all *items* but the first as rows; `None` if they are not alike.

    Names and repeated values are dropped from the rows. So each row must have more words of its own
    than are dropped from it, or a value could no longer be told by what stands around it.
    """
    if len(items) < _MIN_RECORDS or not isinstance(items[0], dict):
        return None
    records = [item for item in items if isinstance(item, dict)]
    if len(records) < len(items):
        return None
    first = records[0]
    if not first or not all(BARE_KEY.fullmatch(name) for name in first):
        return None
    if not all(_is_like(record, first) for record in records):
        return None
    varying = [
        name
        for name, value in first.items()
        if any(name not in record or record[name] != value for record in records)
    ]
    for names in (varying, list(first)):
        rows = _rows(names, records) if names else None
        if rows is not None:
            rest = _REST if len(names) < len(first) else ""
            return "\n".join((f"{ROWS}{'|'.join(names)}{rest}:", *rows)) + "\n"
    return None


def _is_like(record: Record, first: Record) -> bool:
    """Tell whether *record* has only flat values, under names of *first* in their order."""
    rest = iter(first)
    return bool(record) and all(
        name in rest and not (value and type(value) in NESTED) for name, value in record.items()
    )


def _rows(names: list[str], records: list[Record]) -> list[str] | None:
    first = records[0]
    texts = {name: is_text(first[name]) for name in names}
    kept = set(names)
    lifted = sum(count_words(f"{k} {v}") for k, v in first.items() if k not in kept)
    weights = {name: count_words(name) for name in names}
    rows: list[str] = []
    for record in records[1:]:
        row = "|".join(
            _cell(record[name], in_texts=texts[name]) if name in record else "" for name in names
        )
        dropped = lifted + sum(weights[name] for name in names if name in record)
        if count_words(row) <= dropped or not row:
            return None
        rows.append(row)
    return rows


def _cell(value: Json, *, in_texts: bool) -> str:
    if not is_text(value):
        return f":{minify(value)}" if in_texts else minify(value)
    # A blank at the end could be lost, and an address would swallow the bar after it.
    is_bare = in_texts and _CELL.fullmatch(value) and value[-1] != " " and "://" not in value
    return value if is_bare else quote(value)


def read_rows(text: str, place: int, first: Record) -> tuple[list[Json], int]:
    """Read the rows at *place* below *first*; return their records and where the list ends."""
    names, place = _read_names(text, place + len(ROWS), first)
    lifted = first.keys() - set(names)
    records: list[Json] = []
    while not text.startswith("]", place):
        cells: Record = {}
        for number, name in enumerate(names, 1):
            cell, place = _read_cell(text, place, in_texts=is_text(first[name]))
            if cell is not None:
                cells[name] = cell[0]
            if not text.startswith("\n" if number == len(names) else "|", place):
                raise MisspelledError(place)
            place += 1
        records.append(
            {
                name: value if name in lifted else cells[name]
                for name, value in first.items()
                if name in lifted or name in cells
            }
        )
    return records, place + 1


def _read_names(text: str, place: int, first: Record) -> tuple[list[str], int]:
    end = text.find("\n", place)
    line = text[place:end] if end >= 0 else ""
    names = line.removesuffix(":").removesuffix(_REST).split("|")
    if not line.endswith(":") or not all(name in first for name in names):
        raise MisspelledError(place)
    return names, end + 1


def _read_cell(text: str, place: int, *, in_texts: bool) -> tuple[tuple[Json] | None, int]:
    """Read one cell, wrapped so that a `null` is not taken for no cell."""
    if text[place : place + 1] in ("|", "\n", ""):
        return None, place
    if text.startswith('"', place):
        quoted, end = read_quoted(text, place)
        return (quoted,), end
    if not in_texts or text.startswith(":", place):
        value, end = DECODER.raw_decode(text, place + in_texts)
        return (value,), end
    cell = _CELL.match(text, place)
    if not cell:
        raise MisspelledError(place)
    return (cell[0],), cell.end()
