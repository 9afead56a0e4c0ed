"""Cut what a tool returns down to size: JSON inside its strings and lists, text in the middle."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, Final, NamedTuple

from refold.notation.marks import gap, more, size_of
from refold.notation.notes import annotate, free_key, note, shortened_from, summarized_from
from refold.scan.truncate import cut

_dumps: Final = partial(json.dumps, ensure_ascii=False)
_HEAD_SHARE: Final = 2 / 3
"""The share of the room for the beginning. A guess: outputs begin with what they are and end with
how it went, which takes fewer lines."""
_GAP_BYTES: Final = 48
"""What the mark between beginning and end takes at most, with its line breaks."""
_CLUSTER: Final = 128
"""More characters than what a reader sees as one can have."""


def shorten(text: str, max_bytes: int, handle: str = "") -> str:
    """Cut *text* to *max_bytes*: JSON inside its strings and lists, other text in the middle."""
    data = _parse(text)
    if data is _NOT_JSON:
        return head_and_tail(text, max_bytes, handle)
    mark = note(shortened_from(size(text), "bytes"), handle)
    lossless = _write(data, _Limits(), "", max_bytes)
    written = (_write(data, limits, mark, max_bytes) for limits in _ladder(max_bytes))
    return lossless or next(short for short in written if short is not None)


def annotate_summary(summary: str, before: int, max_bytes: int, handle: str) -> str:
    """Say of *summary* what it is; return nothing if that is too long."""
    text = annotate(summary, note(summarized_from(before, "bytes"), handle))
    return text if summary and size(text) <= max_bytes else ""


class _Number(str):  # as it was spelled, so that none changes
    __slots__ = ()


class _Mark(str):  # a text of ours, which is not cut
    __slots__ = ()


_NOT_JSON: Final = object()
_DECODER: Final = json.JSONDecoder(  # reads objects as tuples of pairs, so that no key gets lost
    parse_int=_Number, parse_float=_Number, parse_constant=_Number, object_pairs_hook=tuple
)


def _parse(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _NOT_JSON


class _Limits(NamedTuple):
    """How much is kept of strings, lists, objects and of what is nested."""

    chars: int = sys.maxsize
    items: int = sys.maxsize
    keys: int = sys.maxsize
    depth: int = sys.maxsize


def _ladder(max_bytes: int) -> Iterator[_Limits]:
    """Yield ever tighter limits; what is nested in a list 60 times is a riddle anyway."""
    most = sys.maxsize
    yield from (_Limits(n, most, most, 60) for n in _falling(max_bytes, 160))
    yield from (_Limits(160, n, most, 60) for n in _falling(max_bytes // 2, 3))
    yield from (_Limits(80, 3, n, 60) for n in _falling(max_bytes // 4, 6))
    yield from (_Limits(8 * n, 2, 6, n) for n in (5, 3, 2, 1, 0))


def _falling(start: int, end: int) -> Iterator[int]:
    while start > end:
        yield start
        start = start * 4 // 5
    yield end


def _write(data: Any, limits: _Limits, note: str, max_bytes: int) -> str | None:
    """Write *data* within *limits*, and *note* at its end; nothing if that is too long."""
    pieces: list[str] = []
    try:
        for piece in _pieces(data, limits, note=note):
            max_bytes -= size(piece)
            if max_bytes < 0:
                return None
            pieces.append(piece)
    except RecursionError:
        return None
    return "".join(pieces)


def _pieces(value: Any, limits: _Limits, depth: int = 0, note: str = "") -> Iterator[str]:
    if not isinstance(value, list | tuple):
        yield _atom(value, limits.chars, note)
        return
    is_object = isinstance(value, tuple)
    most = (limits.keys if is_object else limits.items) if depth < limits.depth else 0
    left = max(len(value) - most, 0)
    end = len(value) - (most // 3 if left else 0)
    marks = [more(left, "key" if is_object else "item")] if left else []
    mark = _Mark("; ".join([*marks, *filter(None, [f"[{note}]" if note else ""])]))
    notes = [(free_key([key for key, _ in value]), mark) if is_object else mark] if mark else []
    comma = ""
    yield "{" if is_object else "["
    for entry in (*value[: end - left], *notes, *value[end:]):
        yield f"{comma}{_dumps(entry[0])}:" if is_object else comma
        yield from _pieces(entry[1] if is_object else entry, limits, depth + 1)
        comma = ","
    yield "}" if is_object else "]"


def _atom(value: object, chars: int, note: str) -> str:
    text = value if isinstance(value, _Mark) or not isinstance(value, str) else clip(value, chars)
    if note:
        text = f"{text} [{note}]"
    return str(value) if isinstance(value, _Number) and text == value else _dumps(text)


def size(text: str) -> int:
    """Return the length of *text* in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def head_and_tail(text: str, max_bytes: int, handle: str = "") -> str:
    """Keep the beginning and the end: whole lines, unless they are very long."""
    mark = f"[{note(shortened_from(size(text), 'bytes'), handle)}]"
    room = max_bytes - size(mark) - _GAP_BYTES
    head = _head(text, int(room * _HEAD_SHARE))
    tail = _tail(text[len(head) :], room - size(head))
    left = size_of(text, len(head), len(text) - len(tail), least_lines=1, least_chars=0)
    return f"{head.rstrip(chr(10))}\n{gap(left)}\n{tail.rstrip(chr(10))}\n{mark}"


def _chars(data: bytes) -> int:
    return sum(byte & 0xC0 != 0x80 for byte in data)  # those that begin a character


def _head(text: str, room: int) -> str:
    """Return the beginning of *text* in at most *room* bytes."""
    data = text[:room].encode("utf-8", "surrogatepass")
    chars = _chars(data[:room]) - (1 - _chars(data[room : room + 1]) if data[room:] else 0)
    border = text.rfind("\n", 0, chars) + 1
    return text[:border] if border * 2 >= chars else cut(text, chars)


def _tail(text: str, room: int) -> str:
    """Return the end of *text* in at most *room* bytes."""
    data = text[-room:].encode("utf-8", "surrogatepass")
    start = len(text) - _chars(data[max(len(data) - room, 0) :])
    border = text.find("\n", start) + 1
    if border and (border - start) * 2 <= len(text) - start:
        return text[border:]
    window = text[max(start - _CLUSTER, 0) :]
    place = len(window) - (len(text) - start)
    while place < len(window) and len(cut(window, place)) < place:
        place += 1
    return window[place:]


def clip(text: str, chars: int) -> str:
    """Keep about *chars* characters of *text*, from both ends, if that is shorter."""
    head, tail = cut(text, chars - chars // 3), text[max(len(text) - chars // 3, 0) :]
    left = size_of(text, len(head), len(text) - len(tail), least_lines=2, least_chars=0)
    short = f"{head}{gap(left)}{tail}"
    return short if len(text) > chars and len(short) < len(text) else text
