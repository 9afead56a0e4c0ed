"""Cut JSON down to size so that it stays JSON: inside its strings, lists and objects."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from refold.agent.clipping import clip, head_and_tail, size
from refold.stages.tags import summary_tag

_dumps: Final = partial(json.dumps, ensure_ascii=False)


def shorten(text: str, max_bytes: int, handle: str = "") -> str:
    """Cut *text* to *max_bytes*: JSON inside its strings and lists, other text in the middle."""
    data = _parse(text)
    if data is _NOT_JSON:
        return head_and_tail(text, max_bytes, handle)
    note = _note("shortened from", size(text), handle)
    lossless = _write(data, _Limits(), "", max_bytes)
    written = (_write(data, limits, note, max_bytes) for limits in _ladder(max_bytes))
    return lossless or next(short for short in written if short is not None)


def cut_json(text: str, max_bytes: int) -> str | None:
    """Cut JSON to *max_bytes* inside its strings, lists and objects; `None` if it is none."""
    data = _parse(text)
    if data is _NOT_JSON:
        return None
    written = (_write(data, limits, "", max_bytes) for limits in (_Limits(), *_ladder(max_bytes)))
    return next((short for short in written if short is not None), None)


def _note(what: str, before: int, handle: str) -> str:
    return f"{what} {before} bytes" + (f"; whole result: #{handle}" if handle else "")


def annotate_summary(summary: str, before: int, max_bytes: int, handle: str) -> str:
    """Say of *summary* what it is; return nothing if that is too long."""
    text = f"{summary_tag(summary)}\n[{_note('shortened from', before, handle)}]"
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
    marks = [f"… {left} more {'keys' if is_object else 'items'}"] if left else []
    mark = _Mark("; ".join([*marks, *filter(None, [note])]))
    said = [(_free_key(value), mark) if is_object else mark] if mark else []
    comma = ""
    yield "{" if is_object else "["
    for entry in (*value[: end - left], *said, *value[end:]):
        yield f"{comma}{_dumps(entry[0])}:" if is_object else comma
        yield from _pieces(entry[1] if is_object else entry, limits, depth + 1)
        comma = ","
    yield "}" if is_object else "]"


def _atom(value: object, chars: int, note: str) -> str:
    text = value if isinstance(value, _Mark) or not isinstance(value, str) else clip(value, chars)
    if note:
        text = f"{text} [{note}]"
    return str(value) if isinstance(value, _Number) and text == value else _dumps(text)


def _free_key(pairs: Sequence[tuple[str, Any]]) -> str:
    """Return a key for a mark that the object does not have."""
    return "…" * (max((len(key) for key, _ in pairs if key.startswith("…")), default=0) + 1)


def note_in_json(text: str, note: str) -> str:
    """Say *note* inside a JSON object or array, so that it stays one."""
    body, end = text.rstrip()[:-1].rstrip(), text.rstrip()[-1]
    comma = "" if body in ("{", "[") else ","
    name = "…"
    while f'"{name}"' in text:
        name += "…"
    key = f'"{name}":' if end == "}" else ""
    return f'{body}{comma}{key}"[{note}]"{end}'
