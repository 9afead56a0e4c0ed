"""A conversation file cut into records, with every byte around them kept.

A fold in one file, as `compress --json` writes it, is read and written here, too: an envelope.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from json import JSONDecodeError
from typing import Any, Final

from refold.errors import FormatError
from refold.messages.formats.base import CONVERSATION_KEYS
from refold.messages.json_style import Style, detect_style, says
from refold.result import Compression

BLANKS: Final = " \t\r\n"
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
_EXPECTED: Final = (
    'expected messages such as {"role": "user", "content": "…"}: '
    'a JSON list, an object with "messages", or JSON lines'
)
_NO_KEY: Final = "Expecting property name enclosed in double quotes"
_FOUND_CHARS: Final = 40
"""How many characters an error quotes where it expected JSON: it must fit on a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One record: its exact text, its value, and the text up to the next record."""

    raw: str
    wire: Any
    gap: str
    line: int = 0
    """The line where it begins in the file; 0 for records that never were in a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A whole file: `head`, then every record with its gap, then `tail`."""

    name: str
    items: tuple[Item, ...] = ()
    head: str = ""
    tail: str = ""
    gap: str = "\n"
    """The usual text between two records."""
    style: Style = field(default_factory=Style)
    verbatim: Mapping[str, Any] | None = None
    """Originals that came in the same file (what `compress --json` writes)."""
    conversation: str | None = None
    """The name under which its originals are kept, if the caller gave one."""

    @property
    def messages(self) -> list[Any]:
        """The records, as the library takes them."""
        return [item.wire for item in self.items]

    def text(self) -> str:
        """Return the file's text; for a file just read, exactly what was read."""
        body = "".join(item.raw + item.gap for item in self.items)
        return f"{self.head}{body}{self.tail}"

    def with_items(self, items: Sequence[Item]) -> Document:
        """Return the same file with other records."""
        return replace(self, items=tuple(items))


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    value: Any


def parse_document(text: str, name: str) -> Document:
    """Read a JSON list, a request that has one, JSON lines, or an envelope."""
    try:
        document, others = _parse(text, name)
    except JSONDecodeError as error:
        place = f"{name}, line {error.lineno}, column {error.colno}"
        raise FormatError(_complaint(text, error), place) from error
    except RecursionError as error:
        raise FormatError("the JSON is nested too deeply to read", name) from error
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"the JSON cannot be read: {error}", name) from error  # a giant number
    return _open_envelope(document, others) if _is_envelope(others) else document


def _parse(text: str, name: str) -> tuple[Document, Mapping[str, Any]]:
    """Return the document, and what else an object around its messages has."""
    start = 1 if text.startswith("\ufeff") else 0
    start = _skip(text, start)
    if start == len(text):
        raise FormatError(f"the file is empty; {_EXPECTED}", name)
    if text[start] == "[":
        spans, end = _scan_list(text, start)
        _check_end(text, end)
        return _document(text, name, spans, end - 1, lines=False), {}
    if text[start] == "{" and not _is_lines(text, start):
        return _parse_object(text, start, name)
    return _document(text, name, list(_scan_lines(text, start)), len(text), lines=True), {}


def _is_lines(text: str, start: int) -> bool:
    """Return whether the first line is a record, and not an object that is the whole file."""
    feed = text.find("\n", start)
    first = text[start : len(text) if feed < 0 else feed].strip(BLANKS)
    try:
        value = json.loads(first)
    except JSONDecodeError:
        # A broken first line that ends like a record, with more behind it: report it as a line.
        return first.endswith("}") and text[start + len(first) :].lstrip(BLANKS).startswith("{")
    if not isinstance(value, dict) or (feed >= 0 and text[feed:].strip(BLANKS)):
        return True
    return _is_record(value) and not any(
        isinstance(value.get(name), list) for name in CONVERSATION_KEYS
    )


def _is_record(value: Mapping[str, Any]) -> bool:
    """Return whether this is a message or a session record, not an object around them."""
    return "role" in value or "type" in value or "parts" in value


def _parse_object(text: str, start: int, name: str) -> tuple[Document, Mapping[str, Any]]:
    others: dict[str, Any] = {}
    found: tuple[list[_Span], int] | None = None
    place = _skip(text, start + 1)
    while not text.startswith("}", place):
        key, place = _read_key(text, place)
        if found is None and key in CONVERSATION_KEYS and text.startswith("[", place):
            found = _scan_list(text, place)
            place = found[1]
        else:
            others[key], place = _DECODER.raw_decode(text, place)
        place = _expect(text, _skip(text, place), ",}")
        if text[place] == ",":
            place = _skip(text, place + 1)
            if text.startswith("}", place):
                raise JSONDecodeError(_NO_KEY, text, place)
    end = place + 1
    _check_end(text, end)
    if found is not None:
        return _document(text, name, found[0], found[1] - 1, lines=False), others
    if _is_record(others):
        return _document(text, name, [_Span(start, end, others)], end, lines=True), {}
    keys = ", ".join(sorted(others)[:8]) or "no keys at all"
    raise FormatError(f'the JSON object has no "messages" list (it has {keys}); {_EXPECTED}', name)


def _read_key(text: str, place: int) -> tuple[str, int]:
    """Read the key of a member; return it and the position of its value."""
    if not text.startswith('"', place):
        raise JSONDecodeError(_NO_KEY, text, place)
    key, place = _DECODER.raw_decode(text, place)
    return key, _skip(text, _expect(text, _skip(text, place), ":") + 1)


def _scan_list(text: str, start: int) -> tuple[list[_Span], int]:
    """Return the elements of the list at *start*, and the position after its bracket."""
    spans: list[_Span] = []
    place = _skip(text, start + 1)
    if text[place : place + 1] == "]":
        return spans, place + 1
    while True:
        value, end = _DECODER.raw_decode(text, place)
        spans.append(_Span(place, end, value))
        place = _expect(text, _skip(text, end), ",]")
        if text[place] == "]":
            return spans, place + 1
        place = _skip(text, place + 1)


def _scan_lines(text: str, start: int) -> Iterator[_Span]:
    """Yield the record of each line that is not blank; only a line feed ends a line."""
    place = start
    while place < len(text):
        feed = text.find("\n", place)
        stop = len(text) if feed < 0 else feed
        line = text[place:stop]
        begin = place + len(line) - len(line.lstrip(BLANKS))
        end = place + len(line.rstrip(BLANKS))
        if begin < end:
            try:
                value = json.loads(text[begin:end])
            except JSONDecodeError as error:
                raise JSONDecodeError(error.msg, text, begin + error.pos) from error
            yield _Span(begin, end, value)
        place = stop + 1


def _document(text: str, name: str, spans: list[_Span], end: int, *, lines: bool) -> Document:
    """Cut *text* at the boundaries of its records; *end* is where the list of them ends."""
    stops = [span.start for span in spans[1:]] + [end if lines else spans[-1].end] if spans else []
    items = []
    line, counted = 1, 0
    for span, stop in zip(spans, stops, strict=True):
        line += text.count("\n", counted, span.start)
        counted = span.start
        raw, gap = text[span.start : span.end], text[span.end : stop]
        items.append(Item(raw=raw, wire=span.value, gap=gap, line=line))
    style = detect_style(((item.raw, item.wire) for item in items), ascii_only=_is_ascii(text))
    usual = items[0].gap if len(items) > 1 else ("\n" if lines else ", ")
    return Document(
        name=name,
        items=tuple(items),
        head=text[: spans[0].start if spans else end],
        tail=text[stops[-1] if spans else end :],
        gap=usual,
        style=style,
    )


def _is_ascii(text: str) -> bool:
    return text.isascii() or text.removeprefix("\ufeff").isascii()


def _complaint(text: str, error: JSONDecodeError) -> str:
    """Describe a JSON error; where not even the beginning is JSON, say what is expected."""
    line = text[error.pos : error.pos + _FOUND_CHARS].partition("\n")[0].rstrip(BLANKS)
    found = repr(line) if line else "the end of the line"
    if not text[: error.pos].strip(BLANKS + "\ufeff[{"):
        return f"this is no JSON: found {found}; {_EXPECTED}"
    return f"broken JSON: {error.msg.removesuffix(' at')} at {found}"


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _expect(text: str, place: int, marks: str) -> int:
    """Return *place* if one of *marks* is there, else raise."""
    if place >= len(text) or text[place] not in marks:
        raise JSONDecodeError(f"Expecting '{marks[0]}' delimiter", text, place)
    return place


def _check_end(text: str, place: int) -> None:
    place = _skip(text, place)
    if place != len(text):
        raise JSONDecodeError("Extra data", text, place)


_FILE_KEY: Final = "refold:file"
"""The key under `verbatim` for the layout of the original file, so that it can be restored."""

_LIST: Final = Document(
    name="",
    head="[\n  ",
    tail="\n]\n",
    gap=",\n  ",
    style=Style(item_separator=",", indent="  ", newline="\n  ", ascii_only=False),
)
"""How messages are written when the layout of their file is unknown."""


def _is_envelope(others: Mapping[str, Any]) -> bool:
    """Return whether an object with `messages` and these other keys is an envelope."""
    return isinstance(others.get("verbatim"), Mapping) and "compression" in others


def _open_envelope(document: Document, others: Mapping[str, Any]) -> Document:
    """Return the folded file inside an envelope, with its originals."""
    verbatim = dict(others["verbatim"])
    noted = verbatim.pop(_FILE_KEY, None)
    layout: Mapping[str, Any] = noted if isinstance(noted, Mapping) else {}
    shell = replace(_read_shell(layout), name=document.name, verbatim=verbatim)
    return shell.with_items(_items(document, shell, layout))


def dump_envelope(document: Document, verbatim: Mapping[str, Any], compression: Compression) -> str:
    """Serialize a folded file, its originals and the figures as one line of JSON."""
    body = {
        "messages": document.messages,
        "verbatim": {**verbatim, _FILE_KEY: _layout(document)},
        "compression": compression.to_dict(),
    }
    return Style(ascii_only=False).dump(body) + "\n"


def _layout(document: Document) -> dict[str, Any]:
    """Record what the messages do not show: the style of the file, and the exceptions to it."""
    exceptions = {}
    for index, item in enumerate(document.items):
        raw = None if document.style.dump(item.wire) == item.raw else item.raw
        if raw is not None or item.gap != document.gap:
            exceptions[str(index)] = [raw, item.gap]
    return {
        "head": document.head,
        "tail": document.tail,
        "gap": document.gap,
        "style": document.style.to_wire(),
        "count": len(document.items),
        "items": exceptions,
    }


def _read_shell(layout: Mapping[str, Any]) -> Document:
    texts = {name: layout.get(name) for name in ("head", "tail", "gap")}
    if not all(isinstance(text, str) for text in texts.values()):
        return _LIST
    return Document(name="", style=Style.from_wire(layout.get("style")), **texts)  # type: ignore[arg-type]


def _items(document: Document, shell: Document, layout: Mapping[str, Any]) -> list[Item]:
    """Spell each message as in its file, or in that file's style if it was changed."""
    exceptions, count = layout.get("items"), layout.get("count")
    known = exceptions if isinstance(exceptions, Mapping) else {}
    is_whole = count == len(document.items)
    items = []
    for index, item in enumerate(document.items):
        raw, gap = _exception(known, str(index))
        if raw is None or not says(raw, item.wire):
            raw = shell.style.dump(item.wire)
        if not is_whole:
            gap = None  # messages came or went: only the usual gap is safe
        items.append(replace(item, raw=raw, gap=shell.gap if gap is None else gap))
    if items and not is_whole:
        _, last = _exception(known, str(count - 1)) if isinstance(count, int) else (None, "")
        items[-1] = replace(items[-1], gap=shell.gap if last is None else last)
    return items


def _exception(known: Mapping[str, Any], index: str) -> tuple[str | None, str | None]:
    match known.get(index):
        case [str() | None as raw, str() as gap]:
            return raw, gap
        case _:
            return None, None
