"""JSON in a plainer spelling, which names and values share with the logs of many programs.

    {id=7f3 title="Two words" count:3 tags:[new, "2 left"] owner:{name=Ann boss:null}}

After `=` stands a text, after `:` anything else; a text needs quotes only where it could be
misread. A text of several lines stands as it is between `<<END` and `END`. Names stay beside their
values, so that each value is found in the company it had. With *opens*, so do all long texts: then
whoever shows only parts of them never cuts a quoted text or an escape.

Lists of like records: the first one written out, the others as rows below its names.

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
    MAX_DEPTH,
    NESTED,
    Json,
    MisspelledError,
    Number,
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
_BARE_TEXT: Final = re.compile(r"[^\s\"{}\[\],\x00-\x1f\x7f-\x9f]+")
_LITERAL: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_LIKE_LITERAL: Final = re.compile(rf"{_LITERAL.pattern}|NaN|-?Infinity")
"""What stands for a number or a word of its own, here or in what others take for JSON."""
_WORDS: Final = frozenset(("true", "false", "null", "NaN", "Infinity"))
"""Those of them that are letters alone."""
_FLAT: Final = re.compile(rf"\[({_BARE_TEXT.pattern}+(?:, {_BARE_TEXT.pattern}+)*+)\]")
"""A list of bare texts and literals."""
_FIELD: Final = re.compile(
    rf"[ \n]*+({BARE_KEY.pattern}+)"
    rf"(?:=(?!<<)({_BARE_TEXT.pattern}+)|=\"([^\"\\\x00-\x1f]*+)\""
    rf"|: ?(?:({_LITERAL.pattern})|{_FLAT.pattern}))(?=[ \n}}])"
)
"""A field with a text that needs no escapes, a literal or a flat list, as most are."""
_BETWEEN: Final = re.compile(r"[ \n,]*")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TAGS: Final = ("END", "STOP", "EOF", "FIN")
_DIGITS: Final = frozenset("0123456789")
_MIN_BLOCK_LINES: Final = 3
"""The frame of a block takes two lines: below this, escapes cost less."""
LONG_TEXT: Final = 160
"""Characters of a text that are shown or left out as one; longer ones hold several sentences."""
SHORT_LINES: Final = 80
"""The same for a text of several lines."""

Record = dict[str, Json]


def write_plain(value: Json, *, opens: bool = False) -> str:
    """Write *value* in the plain spelling; long texts stand as they are if it *opens* them."""
    if isinstance(value, dict):
        return "{" + _fields(value, opens=opens) + "}"
    if isinstance(value, list):
        return _list(value, opens=opens)
    return _text(value, is_item=True, opens=opens) if is_text(value) else minify(value)


def _fields(fields: dict[str, Json], *, opens: bool) -> str:
    pieces: list[str] = []
    gap = ""
    for name, value in fields.items():
        key = name if name.isidentifier() or BARE_KEY.fullmatch(name) else quote(name)
        if is_text(value):
            piece = f"{gap}{key}={value if value.isalnum() else _text(value, opens=opens)}"
        else:
            # `part1:20` would look like a time of day.
            blank = " " if key[-1] in _DIGITS else ""
            plain = value if type(value) is Number else write_plain(value, opens=opens)
            piece = f"{gap}{key}:{blank}{plain}"
        pieces.append(piece)
        gap = "\n" if piece.endswith(_BLOCK_ENDS) else " "
    return "".join(pieces)


_BLOCK_ENDS: Final = tuple(f"\n{tag}" for tag in _TAGS)


def _list(items: list[Json], *, opens: bool) -> str:
    rows = write_rows(items) if not opens or not _has_long_text(items) else None
    if rows is not None:
        return f"[{write_plain(items[0])}{rows}]"
    written = [write_plain(item, opens=opens) for item in items]
    if len(items) > 1 and NESTED.issuperset(map(type, items)):
        return "[\n" + "\n".join(written) + "\n]"
    return "[" + ", ".join(written) + "]"


def is_long(text: str) -> bool:
    """Return whether a text is shown in parts, and must be opened for that."""
    return len(text) > LONG_TEXT or (len(text) > SHORT_LINES and "\n" in text)


def _has_long_text(records: list[Json]) -> bool:
    """Return whether a row would hold a long text."""
    cells = (cell for record in records if isinstance(record, dict) for cell in record.values())
    return any(is_text(cell) and is_long(cell) for cell in cells)


def _text(text: str, *, is_item: bool = False, opens: bool = False) -> str:
    """Write a text bare if it can stand so, as a block if it has several lines, else quoted."""
    if text.isalpha() and text not in _WORDS:  # as most are
        return text
    # An address would swallow the bracket after it.
    if _BARE_TEXT.fullmatch(text) and "://" not in text and not text.startswith("<<"):
        return quote(text) if is_item and _LIKE_LITERAL.fullmatch(text) else text
    is_block = text.count("\n") + 1 >= _MIN_BLOCK_LINES or (opens and is_long(text))
    if is_block and not _CONTROL.search(text):
        for tag in _TAGS:
            if f"\n{tag}" not in text and not text.startswith(tag):
                return f"<<{tag}\n{text}\n{tag}"
    return quote(text)


def read_plain(text: str, place: int) -> tuple[Json, int]:
    """Read the value at *place*; return it and where it ends. Raises `MisspelledError`."""
    return _value(text, place, 0)


def _value(text: str, place: int, depth: int) -> tuple[Json, int]:
    if depth > MAX_DEPTH:
        raise MisspelledError(place)
    if text.startswith("{", place):
        return _read_object(text, place + 1, depth)
    if text.startswith("[", place):
        flat = _FLAT.match(text, place)
        if flat:
            return _read_flat(flat[1]), flat.end()
        return _read_list(text, place + 1, depth)
    literal = _LITERAL.match(text, place)
    if literal and not _BARE_TEXT.match(text, literal.end()):
        return _literal(literal[0]), literal.end()
    return _read_text(text, place)


def _read_flat(items: str) -> list[Json]:
    return [
        item
        if item.isalpha() and item not in _LITERALS
        else _literal(item)
        if _LITERAL.fullmatch(item)
        else item
        for item in items.split(", ")
    ]


def _literal(spelling: str) -> Json:
    return _LITERALS[spelling] if spelling in _LITERALS else Number(spelling)


_LITERALS: Final[dict[str, Json]] = {"true": True, "false": False, "null": None}


def _read_object(text: str, place: int, depth: int) -> tuple[Json, int]:
    fields: dict[str, Json] = {}
    while True:
        while simple := _FIELD.match(text, place):
            key, bare, quoted, literal, flat = simple.groups()
            if key in fields:
                raise MisspelledError(place)
            if literal is not None:
                fields[key] = _literal(literal)
            else:
                fields[key] = bare or quoted if flat is None else _read_flat(flat)
            place = simple.end()
        place = _skip(text, place)
        if text.startswith("}", place):
            return fields, place + 1
        key, place = _read_key(text, place)
        sign = text[place : place + 1]
        value: Json
        if sign == "=":
            value, place = _read_text(text, place + 1)
        elif sign == ":":
            place += 1 + text.startswith(" ", place + 1)
            value, end = _value(text, place, depth + 1)
            if is_text(value):  # JSON as everyone else writes it
                raise MisspelledError(place)
            place = end
        else:
            raise MisspelledError(place)
        if key in fields:
            raise MisspelledError(place)
        fields[key] = value


def _read_list(text: str, place: int, depth: int) -> tuple[Json, int]:
    items: list[Json] = []
    place = _skip(text, place)
    while not text.startswith("]", place):
        item, place = _value(text, place, depth + 1)
        items.append(item)
        if len(items) == 1 and isinstance(item, dict) and text.startswith(ROWS, place):
            rows, place = read_rows(text, place, item)
            return items + rows, place
        place = _skip(text, place)
    return items, place + 1


def _read_key(text: str, place: int) -> tuple[str, int]:
    if text.startswith('"', place):
        return read_quoted(text, place)
    bare = BARE_KEY.match(text, place)
    if not bare:
        raise MisspelledError(place)
    return bare[0], bare.end()


def _read_text(text: str, place: int) -> tuple[str, int]:
    if text.startswith('"', place):
        return read_quoted(text, place)
    for tag in _TAGS if text.startswith("<<", place) else ():
        if text.startswith(f"<<{tag}\n", place):
            start = place + len(tag) + 3
            end = text.find(f"\n{tag}", start)
            if end < 0:
                raise MisspelledError(place)
            return text[start:end], end + len(tag) + 1
    bare = _BARE_TEXT.match(text, place)
    if not bare:
        raise MisspelledError(place)
    return bare[0], bare.end()


def _skip(text: str, place: int) -> int:
    between = _BETWEEN.match(text, place)
    return between.end() if between else place


def is_text(value: Json) -> TypeGuard[str]:
    """Return whether *value* is a text, not a number, which is kept as it was spelled."""
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
    """Return whether *record* has only flat values, under names of *first* in their order."""
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
