"""JSON in a plainer spelling, which names and values share with the logs of many programs.

    {id=7f3 title="Two words" count:3 tags:[new, "2 left"] owner:{name=Ann boss:null}}

After `=` stands a text, after `:` anything else; a text needs quotes only where it could be
misread. A text of several lines stands as it is between `<<END` and `END`. Names stay beside their
values, so that each value is found in the company it had. With *opens*, so do all long texts: then
whoever shows only parts of them never cuts a quoted text or an escape.
"""

from __future__ import annotations

import re
from typing import Final

from refold.codecs.json_table import BARE_KEY, ROWS, is_text, read_rows, write_rows
from refold.codecs.json_tree import (
    MAX_DEPTH,
    NESTED,
    Json,
    MisspelledError,
    Number,
    minify,
    quote,
    read_quoted,
)

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
