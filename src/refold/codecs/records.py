"""JSON as lines that can be read alone: a header and one row per record, short fields together.

    orders (3) id|status|total, all currency=EUR:
    #W101|shipped|12.50
    #W102|pending|7.00
    #W103|pending|

Every key and value is there, as it was spelled; an empty cell stands for a key that a record lacks.
JSON is recognised where it is: alone, after a label on its line, several values below each other,
inside other output, and cut off at its end or in its middle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from refold.lazy import regex
from refold.notation.marks import GAP

_ROW: Final = 400
"""Characters of a record that is written as one row."""
_FIELD: Final = 160
"""Characters of a value that stands beside others on a line."""
_LINE: Final = 240
"""Characters of a line of short fields."""
_DEEPEST: Final = 12
"""Nesting below this is written as it was."""
_START: Final = regex(r"(?m)^(?:[\w .-]{1,40}[:=] ?)?(?=[{\[])")
_TOKEN: Final = regex(r'"(?:[^"\\]++|\\(?s:.))*+(?:"|\\?\Z)|[{}\[\],]')
"""What shapes JSON: its strings, the last of which may have no end, and its signs."""
_SURROGATE: Final = regex(r"[\ud800-\udfff]")
_LITERAL: Final = regex(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|")
_BETWEEN: Final = regex(r"[\s,]*")
_CLOSING: Final = regex(r"\s*\]")
_MIN_LINES: Final = 3
"""Line breaks of a text that stands in a record."""
_MIN_ROWS: Final = 2
"""So many records with the same keys are a table."""
_MIN_SHARED: Final = 3
"""In so many rows, what is the same in all of them stands in the header."""


class _Number(str):
    """A number as it was spelled."""

    __slots__ = ()


def _record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key occurs twice")
    return fields


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_record, parse_float=_Number, parse_int=_Number
)
_MIN_CUT: Final = 200
"""Characters of what was cut off that are sure to be JSON."""
_TEXTUAL: Final = frozenset((dict, list, str))
_MAX_FAILURES: Final = 16
"""So often is something that only looks like JSON tried in one text: each try may read it all."""
_CLOSE: Final = {"{": "}", "[": "]"}


class Line(NamedTuple):
    """A line, and the number of the line that heads it, or -1."""

    text: str
    head: int = -1


def respell(text: str, *, is_whole: bool = False) -> list[Line] | None:
    """Return the lines of *text* with its JSON respelled; `None` if there is none worth it.

    Where all of it *is whole*, what the rows of a table share stands in its header, and texts that
    read like other values have quotes; rows that are shown alone have all that is theirs.
    """
    if "{" not in text and "[" not in text:
        return None
    writer = _Writer(is_whole=is_whole)
    end = 0
    for value, start, stop in _values(text):
        writer.copy(text[end:start])
        writer.write(value)
        end = stop
    if not end:
        return None
    writer.copy(text[end:])
    if "\\ud" in text.lower() and any(_SURROGATE.search(line.text) for line in writer.lines):
        return None  # half a character that stood as an escape must not get into the text itself
    shorter = sum(len(line.text) + 1 for line in writer.lines) < len(text)
    return writer.lines if shorter else None


def encode(text: str) -> str | None:
    """Return *text* with its JSON as lines; `None` if there is none worth it."""
    lines = respell(text, is_whole=True)
    return None if lines is None else "\n".join([line.text for line in lines])


def open_envelope(text: str) -> str | None:
    """Return *text*, a record with a text of several lines, with that text as it is.

    The records of a file that somebody reads are its own; what a tool puts around a file is not.
    """
    if not text.startswith("{") or text.count("\\n") < _MIN_LINES:
        return None
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if text[end:].strip() or not any(
        isinstance(v, str) and v.count("\n") >= _MIN_LINES for v in value.values()
    ):
        return None
    writer = _Writer(is_whole=True)
    writer.write(value)
    return "\n".join([line.text for line in writer.lines])


def _values(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield each JSON object or list that begins a line or follows its label, with its place.

    What was cut off is read as far as it goes. Lines of JSON with the same keys are one list.
    """
    rows: list[Any] = []
    first = end = 0
    failures = 0
    for match in _START.finditer(text):
        start = match.end()
        if start < end:
            continue
        value, stop, rest = _read(text, start)
        if value is None:
            failures += 1
            if failures > _MAX_FAILURES:
                break
            continue
        is_row = isinstance(value, dict) and match.end() == match.start() and not rest
        if rows and not (is_row and list(value) == list(rows[0]) and not text[end:start].strip()):
            yield rows if len(rows) > 1 else rows[0], first, end
            rows = []
        if is_row:
            first = first if rows else start
            rows.append(value)
        else:
            yield value, start, stop
        end = stop
        if rest:  # records continue after a gap in the middle
            value, start, stop = _read_rest(text, rest, value)
            if value:
                yield value, start, stop
                end = stop
    if rows:
        yield rows if len(rows) > 1 else rows[0], first, end


def _read(text: str, start: int) -> tuple[Any, int, int]:
    """Return the JSON at *start*, where it ends, and if it was cut off, where it broke off.

    `None` if it is none, or next to nothing.
    """
    rest = 0
    try:
        value, stop = _DECODER.raw_decode(text, start)
    except RecursionError:
        return None, start, 0
    except ValueError as error:
        rest = getattr(error, "pos", start)
        value, stop = _read_cut(text, start, rest)
    if not isinstance(value, dict | list) or stop - start < 40 or not value:
        return None, start, 0
    if text[start] == "[" and not any(type(v) in _TEXTUAL for v in value):
        return None, start, 0
    return value, stop, rest


def _read_cut(text: str, start: int, bad: int) -> tuple[Any, int]:
    """Read JSON that was cut off: up to the last whole value before the *bad* place."""
    if bad - start < _MIN_CUT:
        return None, start
    opened: list[str] = []
    cut, closing = 0, ""  # after the last value of a list, or else of a record
    is_item = False
    for match in _TOKEN.finditer(text, start, bad):
        sign = match[0]
        if sign in _CLOSE:
            opened.append(_CLOSE[sign])
        elif sign in "}]" and opened:
            opened.pop()
            if opened and opened[-1] == "]":
                cut, closing, is_item = match.end(), "".join(reversed(opened)), True
        elif sign == "," and opened and not is_item:
            cut, closing = match.start(), "".join(reversed(opened))
    if not cut:
        return None, start
    try:
        return _DECODER.decode(text[start:cut] + closing), cut
    except (ValueError, RecursionError):
        return None, start


def _rows_of(value: dict[str, Any]) -> list[Any]:
    """Return records that a map holds by their ids, each with its id; none if it is no such map."""
    keys = next((list(v) for v in value.values() if isinstance(v, dict)), [])
    if len(value) < _MIN_ROWS or not keys or all(key.isidentifier() for key in value):
        return []
    if not all(isinstance(v, dict) and list(v) == keys for v in value.values()):
        return []
    if any(all(v[key] == id for id, v in value.items()) for key in keys):
        return list(value.values())
    return [{"": id, **v} for id, v in value.items()]


def _read_rest(text: str, start: int, before: Any) -> tuple[list[Any], int, int]:
    """Return the records after *start* that continue as those *before* a gap, and their place."""
    rows: list[Any] = []
    last = before[-1] if isinstance(before, list) and before else None
    match = (
        re.compile(r"\{\s*" + re.escape(json.dumps(next(iter(last)), ensure_ascii=False))).search(
            text, start
        )
        if isinstance(last, dict) and last
        else None
    )
    if match is None:
        return rows, start, start
    start = end = match.start()
    while text.startswith("{", end):
        try:
            value, stop = _DECODER.raw_decode(text, end)
        except (ValueError, RecursionError):
            break
        rows.append(value)
        between = _BETWEEN.match(text, stop)
        end = between.end() if between and text.startswith("{", between.end()) else stop
    closing = _CLOSING.match(text, end)
    return rows, start, closing.end() if closing else end


def flat(value: Any, depth: int = 0, *, is_whole: bool = False) -> str:
    """Write a value on one line; a text without quotes, unless it must not read like another."""
    if isinstance(value, str):
        is_like_other = is_whole and type(value) is str and _LITERAL.fullmatch(value) is not None
        return f'"{value}"' if is_like_other else value
    if isinstance(value, dict) and depth < _DEEPEST:
        fields = [f"{k}={flat(v, depth + 1, is_whole=is_whole)}" for k, v in value.items()]
        return "{" + " ".join(fields) + "}"
    if isinstance(value, list) and depth < _DEEPEST:
        return "[" + ", ".join([flat(v, depth + 1, is_whole=is_whole) for v in value]) + "]"
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return GAP


class _Writer:
    """Collects lines."""

    def __init__(self, *, is_whole: bool) -> None:
        self.lines: list[Line] = []
        self._is_whole = is_whole

    def copy(self, text: str) -> None:
        """Add lines as they are."""
        if text.strip():
            self.lines += [Line(line) for line in text.strip("\n").rstrip().split("\n")]

    def write(self, value: Any, name: str = "", head: int = -1, depth: int = 0) -> None:
        """Add *value*: a record is a line, a long string its own lines, the rest goes deeper."""
        one = self._flat(value)
        if isinstance(value, dict) and (rows := _rows_of(value)):
            value, one = rows, self._flat(rows)
        if isinstance(value, str) and ("\n" in one or len(one) > _ROW):
            under = self._head(f"{name}:", head) if name else head
            inner = None if self._is_whole else respell(value)  # a tool's JSON, sent as a text
            first = len(self.lines)
            self.lines += [
                Line(line.text, first + line.head if line.head >= 0 else under)
                for line in inner or map(Line, one.split("\n"))
            ]
        elif self._is_short(value, one, depth):
            self.lines.append(Line(f"{name}={one}" if name else one, head))
        elif isinstance(value, list):
            self._write_list(value, name, head, depth)
        else:
            self._write_record(value, name, head, depth)

    def _is_short(self, value: Any, one: str, depth: int) -> bool:
        if not isinstance(value, dict | list) or depth > _DEEPEST:
            return True
        most = _FIELD if isinstance(value, dict) and depth == 0 else _ROW
        if isinstance(value, list) and len(value) > _MIN_ROWS and isinstance(value[0], dict):
            return False
        return "\n" not in one and len(one) <= most

    def _head(self, line: str, head: int) -> int:
        self.lines.append(Line(line, head))
        return len(self.lines) - 1

    def _write_list(self, value: list[Any], name: str, head: int, depth: int) -> None:
        rows = [self._flat(v, 1) for v in value]
        keys = _keys_of(value) if all("\n" not in r and len(r) <= _ROW for r in rows) else None
        if keys:
            lifts = self._is_whole and len(value) >= _MIN_SHARED
            shared = [k for k in keys if lifts and _is_shared(value, k)]
            keys = [k for k in keys if k not in shared] or keys
            rest = " ".join(f"{k}={self._flat(value[0][k], 1)}" for k in shared if k not in keys)
            header = f"{name or 'rows'} ({len(value)}) {'|'.join(keys)}"
            under = self._head(f"{header}, all {rest}:" if rest else f"{header}:", head)
            for v in value:
                cells = [self._cell(v[key]) if key in v else "" for key in keys]
                self.lines.append(Line("|".join(cells), under))
            return
        under = self._head(f"{name or 'list'} ({len(value)}):", head)
        for number, (v, row) in enumerate(zip(value, rows, strict=True)):
            is_long = "\n" in row or len(row) > _ROW
            self.write(v, f"{name}[{number}]" if is_long else "", under, depth + 1)

    def _write_record(self, value: dict[str, Any], name: str, head: int, depth: int) -> None:
        short: list[str] = []
        long: list[tuple[str, Any]] = []
        for key, v in value.items():
            one = self._flat(v, 1)
            is_beside = not isinstance(v, dict | list) and "\n" not in one and len(one) <= _FIELD
            if is_beside:
                short.append(f"{key}={one}")
            else:
                long.append((key, v))
        line = f"{name}:" if name and short else ""
        under = head
        for part in short:
            if line and len(line) + len(part) > _LINE:
                self.lines.append(Line(line, under))
                under = len(self.lines) - 1 if under == head and depth else under
                line = ""
            line += (" " if line else "") + part
        if line:
            self.lines.append(Line(line, under))
            under = len(self.lines) - 1 if under == head and depth else under
        for key, v in long:
            self.write(v, f"{name} {key}" if name else key, under, depth + 1)

    def _flat(self, value: Any, depth: int = 0) -> str:
        return flat(value, depth, is_whole=self._is_whole)

    def _cell(self, value: Any) -> str:
        """Write a value between bars; a text with a bar of its own in quotes."""
        cell = self._flat(value, 1)
        return json.dumps(cell, ensure_ascii=False) if "|" in cell else cell


def _keys_of(rows: list[Any]) -> list[str] | None:
    """Return the columns of a table of *rows*; `None` if they are none.

    One of them has all keys, and each at least half of them, in the same order.
    """
    if len(rows) < _MIN_ROWS or not all(isinstance(row, dict) for row in rows):
        return None
    keys = list(max(rows, key=len, default={}))
    for row in rows:
        row_keys = list(row)
        if row_keys != keys and (
            2 * len(row_keys) < len(keys) or row_keys != [k for k in keys if k in row]
        ):
            return None
    return keys


def _is_shared(rows: list[dict[str, Any]], key: str) -> bool:
    value = rows[0].get(key, rows)
    return all(key in row and row[key] == value for row in rows)
