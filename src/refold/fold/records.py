"""JSON as lines that can be read alone: a header and one row per record, short fields together.

    orders (2) id|status|total:
    #W101|shipped|12.50
    #W102|pending|7.00

JSON is recognised where it is: alone, after a label on its line, several values below each other,
inside other output, and cut off at its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from refold.notation.marks import GAP

_ROW: Final = 400
"""Characters of a record that is written as one row."""
_FIELD: Final = 160
"""Characters of a value that stands beside others on a line."""
_LINE: Final = 240
"""Characters of a line of short fields."""
_DEEPEST: Final = 12
"""Nesting below this is written as it was."""
_START: Final = re.compile(r"(?m)^(?:[\w .-]{1,40}[:=] ?)?(?=[{\[])")
_MIN_ROWS: Final = 2
"""So many records with the same keys are a table."""
_DECODER: Final = json.JSONDecoder(parse_float=str, parse_int=str)
_MAX_FAILURES: Final = 16
"""So often is something that only looks like JSON tried in one text: each try may read it all."""
_CLOSE: Final = {"{": "}", "[": "]"}


class Line(NamedTuple):
    """A line, and the number of the line that heads it, or -1."""

    text: str
    head: int = -1


def respell(text: str) -> list[Line] | None:
    """Return the lines of *text* with its JSON respelled; `None` if there is none worth it."""
    if "{" not in text and "[" not in text:
        return None
    writer = _Writer()
    end = 0
    for value, start, stop in _values(text):
        writer.copy(text[end:start])
        writer.write(value)
        end = stop
    if not end:
        return None
    writer.copy(text[end:])
    shorter = sum(len(line.text) + 1 for line in writer.lines) < len(text)
    return writer.lines if shorter else None


def _values(text: str) -> Iterator[tuple[Any, int, int]]:
    """Yield each JSON object or list that begins a line or follows its label, with its place.

    What was cut off is read as far as it goes. Lines of JSON with the same keys are one list.
    """
    rows: list[Any] = []
    first = end = 0
    failures = 0
    for found in _START.finditer(text):
        start = found.end()
        if start < end:
            continue
        value, stop = _read(text, start)
        if value is None:
            failures += 1
            if failures > _MAX_FAILURES:
                break
            continue
        is_row = isinstance(value, dict) and found.end() == found.start()
        if rows and not (is_row and list(value) == list(rows[0]) and not text[end:start].strip()):
            yield rows if len(rows) > 1 else rows[0], first, end
            rows = []
        if is_row:
            first = first if rows else start
            rows.append(value)
        else:
            yield value, start, stop
        end = stop
    if rows:
        yield rows if len(rows) > 1 else rows[0], first, end


def _read(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON at *start* and where it ends; `None` if it is none, or next to nothing."""
    try:
        value, stop = _DECODER.raw_decode(text, start)
    except RecursionError:
        return None, start
    except ValueError as error:
        value, stop = _read_cut(text, start, getattr(error, "pos", start))
    if not isinstance(value, dict | list) or stop - start < 40 or not value:
        return None, start
    if text[start] == "[" and not any(isinstance(v, dict | list | str) for v in value):
        return None, start
    return value, stop


def _read_cut(text: str, start: int, bad: int) -> tuple[Any, int]:
    """Read JSON that was cut off: up to the last whole value before the *bad* place."""
    if len(text) - bad > 200 or bad - start < 200:
        return None, start
    opened: list[str] = []
    is_string, i = False, start
    cut, closing = 0, ""  # after the last value of a list, or else of a record
    is_item = False
    while i < bad:
        char = text[i]
        if is_string:
            if char == "\\":
                i += 1
            elif char == '"':
                is_string = False
        elif char == '"':
            is_string = True
        elif char in "{[":
            opened.append(_CLOSE[char])
        elif char in "}]" and opened:
            opened.pop()
            if opened and opened[-1] == "]":
                cut, closing, is_item = i + 1, "".join(reversed(opened)), True
        elif char == "," and opened and not is_item:
            cut, closing = i, "".join(reversed(opened))
        i += 1
    if not cut:
        return None, start
    try:
        return _DECODER.decode(text[start:cut] + closing), cut
    except (ValueError, RecursionError):
        return None, start


def flat(value: Any, depth: int = 0) -> str:
    """Write a value on one line, without quotes."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and depth < _DEEPEST:
        return "{" + " ".join(f"{k}={flat(v, depth + 1)}" for k, v in value.items()) + "}"
    if isinstance(value, list) and depth < _DEEPEST:
        return "[" + ", ".join(flat(v, depth + 1) for v in value) + "]"
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return GAP


class _Writer:
    """Collects lines."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def copy(self, text: str) -> None:
        """Add lines as they are."""
        if text.strip():
            self.lines += [Line(line) for line in text.strip("\n").split("\n")]

    def write(self, value: Any, name: str = "", head: int = -1, depth: int = 0) -> None:
        """Add *value*: a record is a line, a long string its own lines, the rest goes deeper."""
        one = flat(value)
        if isinstance(value, str) and "\n" in one:
            under = self._head(f"{name}:", head) if name else head
            self.lines += [Line(line, under) for line in one.split("\n")]
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
        rows = [flat(v, 1) for v in value]
        keys = list(value[0]) if value and isinstance(value[0], dict) else None
        is_table = (
            keys
            and len(value) >= _MIN_ROWS
            and all(isinstance(v, dict) and list(v) == keys for v in value)
            and all("\n" not in row and len(row) <= _ROW for row in rows)
        )
        if is_table:
            under = self._head(f"{name or 'rows'} ({len(value)}) {'|'.join(keys or ())}:", head)
            for v in value:
                self.lines.append(Line("|".join(flat(field, 1) for field in v.values()), under))
            return
        under = self._head(f"{name or 'list'} ({len(value)}):", head)
        for number, (v, row) in enumerate(zip(value, rows, strict=True)):
            is_long = "\n" in row or len(row) > _ROW
            self.write(v, f"{name}[{number}]" if is_long else "", under, depth + 1)

    def _write_record(self, value: dict[str, Any], name: str, head: int, depth: int) -> None:
        short: list[str] = []
        long: list[tuple[str, Any]] = []
        for key, v in value.items():
            one = flat(v, 1)
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
                under = len(self.lines) - 1 if under == head else under
                line = ""
            line += (" " if line else "") + part
        if line:
            self.lines.append(Line(line, under))
            under = len(self.lines) - 1 if under == head else under
        for key, v in long:
            self.write(v, f"{name}.{key}" if name else key, under, depth + 1)
