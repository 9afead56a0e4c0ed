"""A conversation file as records with every byte around them: read, spelled again, and written.

One way in for all commands: a JSON list, an object with the messages, JSON lines, session files,
what `compress --json` writes; plain, `.gz` or `.zst`, from a file or from standard input.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import stat
import sys
import zlib
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Final

import click

from refold.checks import need
from refold.errors import FormatError, MessageError, NestingError, OutputError
from refold.messages.formats.base import CONVERSATION_KEYS
from refold.messages.json_style import Style, detect_style
from refold.messages.wire import digest
from refold.private_files import OWNER_ONLY, replacing
from refold.stores.codec import MAX_DEPTH, encode_value

STDIO: Final = "-"
_SQLITE: Final = b"SQLite format 3\0"
"""The first bytes of every SQLite file."""
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_BLANKS: Final = " \t\r\n"
_BETWEEN: Final = re.compile(r"[ \t\r\n,:]*")
"""What stands between two values of a list or object that is known to be valid."""
_DECODER: Final = json.JSONDecoder()
_EXPECTED: Final = (
    'expected messages such as {"role": "user", "content": "…"}: '
    'a JSON list, an object with "messages", or JSON lines'
)
_QUOTED_CHARS: Final = 40
"""How many characters an error quotes where it expected JSON: it must fit on a line."""
_INDEX: Final = re.compile(r"messages\[(\d+)\]")


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
    head: str = "[\n  "
    tail: str = "\n]\n"
    gap: str = ",\n  "
    """The usual text between two records."""
    style: Style = field(
        default_factory=lambda: Style(
            item_separator=",", indent="  ", newline="\n  ", ascii_only=False
        )
    )
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
        return f"{self.head}{_join(self.items)}{self.tail}"


def _join(items: Sequence[Item]) -> str:
    return "".join([item.raw + item.gap for item in items])


# reading


def read_document(path: str, conversation: str | None = None) -> Document:
    """Read a *conversation* in any known shape; `-` is standard input."""
    name = "standard input" if path == STDIO else path
    if not path:
        raise FormatError("the name of the file is empty")
    try:
        data = sys.stdin.buffer.read() if path == STDIO else Path(path).read_bytes()
    except FileNotFoundError as error:
        raise FormatError("no such file", name) from error
    except IsADirectoryError as error:
        raise FormatError("it is a directory; name a file in it", name) from error
    except (OSError, ValueError) as error:
        raise FormatError(f"cannot be read: {_why(error)}", name) from error
    return replace(parse_document(_decode(data, name), name), conversation=conversation)


def _decode(data: bytes, name: str) -> str:
    """Return the text of a file, unpacked if it was packed by gzip or zstd."""
    try:
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
        elif data.startswith(_ZSTD):
            packed = need("zstandard", "zstd").ZstdDecompressor().decompressobj()
            data = bytes(packed.decompress(data))
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(f"it is packed by gzip and damaged: {error}", name) from error
    if data.startswith(_SQLITE):
        raise FormatError("it is a store of originals; name the file that was folded", name)
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise FormatError("it is UTF-16, as PowerShell writes it; convert the file to UTF-8", name)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        problem = f"not UTF-8 text: {byte}; convert the file to UTF-8"
        raise FormatError(problem, f"{name}, line {line}") from error


def parse_document(text: str, name: str) -> Document:
    """Cut a text into its records; raise `FormatError` with the line of what is wrong."""
    start = len(text) - len(text.lstrip(_BLANKS + "\ufeff"))
    if start == len(text):
        raise FormatError(f"the file is empty; {_EXPECTED}", name)
    try:
        return _parse(text, start, name)
    except JSONDecodeError as error:
        place = f"{name}, line {error.lineno}, column {error.colno}"
        raise FormatError(_complaint(text, error), place) from error
    except RecursionError as error:
        raise FormatError("the JSON is nested too deeply to read", name) from error
    except FormatError:
        raise
    except ValueError as error:  # a giant number
        raise FormatError(f"the JSON cannot be read: {error}", name) from error


def _parse(text: str, start: int, name: str) -> Document:
    """Find out what the JSON is that begins at *start*, and cut it."""
    whole, end = _DECODER.raw_decode(text, start)
    is_more = bool(text[end:].strip(_BLANKS))
    if isinstance(whole, dict):
        key = next((k for k in CONVERSATION_KEYS if type(whole.get(k)) is list), None)
        is_record = "role" in whole or "type" in whole or "parts" in whole
        if is_more or (is_record and key is None):
            return _document(text, name, start, is_lines=True)
        if key is None:
            keys = ", ".join(sorted(whole)[:8]) or "no keys at all"
            problem = f'the JSON object has no "messages" list (it has {keys})'
            raise FormatError(f"{problem}; {_EXPECTED}", name)
        document = _document(text, name, _find_list(text, start, key))
        is_envelope = isinstance(whole.get("verbatim"), Mapping) and "compression" in whole
        return _open_envelope(document, whole["verbatim"]) if is_envelope else document
    if is_more:
        raise JSONDecodeError("Extra data", text, _skip(text, end))
    if not isinstance(whole, list):
        raise FormatError(f"this is no conversation; {_EXPECTED}", f"{name}, line 1")
    return _document(text, name, start + 1)


def _find_list(text: str, start: int, wanted: str) -> int:
    """Return the place after the bracket of the list that an object has under *wanted*."""
    place = _skip(text, start + 1)
    while True:
        key, place = _DECODER.raw_decode(text, place)
        place = _skip(text, place)
        if key == wanted and text[place] == "[":
            return place + 1
        _, place = _DECODER.raw_decode(text, place)
        place = _skip(text, place)


def _document(text: str, name: str, start: int, *, is_lines: bool = False) -> Document:
    """Cut *text*, whose records begin at *start*."""
    items, end = _cut(text, start)
    tail = text[end:]
    if items and not is_lines:  # what closes a list belongs to none of its records
        tail, items[-1] = items[-1].gap + tail, replace(items[-1], gap="")
    ascii_only = text.removeprefix("\ufeff").isascii()
    return Document(
        name=name,
        items=tuple(items),
        head=text[: _skip(text, start)],
        tail=tail,
        gap=items[0].gap if len(items) > 1 else ("\n" if is_lines else ", "),
        style=detect_style(((item.raw, item.wire) for item in items), ascii_only=ascii_only),
    )


def _cut(text: str, start: int) -> tuple[list[Item], int]:
    """Return the records from *start* on, of a list or one after the other, and where they end."""
    items, line, counted = list[Item](), 1, 0
    place = _skip(text, start)
    while place < len(text) and text[place] != "]":
        wire, end = _DECODER.raw_decode(text, place)
        after = _skip(text, end)
        line += text.count("\n", counted, place)
        items.append(Item(raw=text[place:end], wire=wire, gap=text[end:after], line=line))
        counted, place = place, after
    return items, place


def _skip(text: str, place: int) -> int:
    blanks = _BETWEEN.match(text, place)
    return blanks.end() if blanks else place


def _complaint(text: str, error: JSONDecodeError) -> str:
    """Describe a JSON error; where not even the beginning is JSON, say what is expected."""
    line = text[error.pos : error.pos + _QUOTED_CHARS].partition("\n")[0].rstrip(_BLANKS)
    there = repr(line) if line else "the end of the line"
    if not text[: error.pos].strip(_BLANKS + "\ufeff[{"):
        return f"this is not JSON: found {there}; {_EXPECTED}"
    return f"broken JSON: {error.msg.removesuffix(' at')} at {there}"


@contextmanager
def locating_errors(document: Document) -> Iterator[None]:
    """Add the file and the line to errors about a message."""
    try:
        yield
    except MessageError as error:
        index = _INDEX.match(error.place)
        line = document.items[int(index[1])].line if index else 0
        raise FormatError(str(error), _place(document, line)) from error
    except NestingError as error:
        line = next((item.line for item in document.items if _is_too_deep(item.wire)), 0)
        raise FormatError(
            f"nested more than {MAX_DEPTH} levels deep, which no store takes; "
            "use --json without --store: the originals then go into the output",
            _place(document, line),
        ) from error


def _is_too_deep(wire: Any) -> bool:
    try:
        encode_value("", wire)
    except NestingError:
        return True
    return False


def _place(document: Document, line: int) -> str:
    return f"{document.name}, line {line}" if line else document.name


# spelling


def note_spelling(document: Document, count: int) -> dict[str, Any]:
    """Return what brings back how a file spells its first *count* records.

    That is its style, or their text if they are not all spelled in it.
    """
    items = document.items[:count]
    plain = spell([item.wire for item in items], document.style, document.gap)
    text = _join(items).removesuffix(items[-1].gap)
    if _join(plain).removesuffix(document.gap) == text:
        return {"style": document.style.to_wire(), "gap": document.gap, "count": count}
    return {"text": text, "count": count}


def spell_as_noted(wires: Sequence[Any], note: object, document: Document) -> list[Item]:
    """Spell records as `note_spelling` has noted; else in the usual way of *document*."""
    match note:
        case {"text": str() as text, "count": int() as count} if count == len(wires):
            items, _ = _cut(text, 0)
            if digest([item.wire for item in items]) == digest(list(wires)):
                return items
        case {"style": style, "gap": str() as gap}:
            return spell(wires, Style.from_wire(style), gap)
    return spell(wires, document.style, document.gap)


def spell(wires: Sequence[Any], style: Style, gap: str) -> list[Item]:
    """Spell records in a *style*, with the same *gap* after each."""
    return [Item(raw=style.dump(wire), wire=wire, gap=gap) for wire in wires]


_FILE_KEY: Final = "refold:file"
"""The key under `verbatim` for the text around the messages of the file, and their spelling."""
_AROUND: Final = ("head", "tail", "gap")


def dump_envelope(document: Document, verbatim: Mapping[str, Any], figures: Any) -> str:
    """Serialize a folded file, its originals and the figures as one line of JSON."""
    noted = note_spelling(document, len(document.items)) if document.items else {}
    last = document.items[-1].gap if document.items else ""
    around = {name: getattr(document, name) for name in _AROUND}
    file = {**noted, **around, "style": document.style.to_wire(), "last": last}
    messages, originals = document.messages, {**verbatim, _FILE_KEY: file}
    return dump_line({"messages": messages, "verbatim": originals, "compression": figures})


def dump_line(value: object) -> str:
    """Serialize *value* as one line of JSON."""
    return Style(ascii_only=False).dump(value) + "\n"


def _open_envelope(document: Document, verbatim: Mapping[str, Any]) -> Document:
    """Return the folded file inside an envelope, with its originals."""
    originals = dict(verbatim)
    file = originals.pop(_FILE_KEY, None)
    shell, last = Document(name=document.name, verbatim=originals), ""
    match file:
        case {"head": str(), "tail": str(), "gap": str(), "last": str() as last, "style": style}:
            around = {name: file[name] for name in _AROUND}
            shell = replace(shell, style=Style.from_wire(style), **around)
    items = spell_as_noted(document.messages, file, shell)
    if items:
        items[-1] = replace(items[-1], gap=last)
    return replace(shell, items=tuple(items))


# writing


def check_out(out: str | None, store: str | None) -> None:
    """Refuse to write a result over a directory or a store, before anything is read or stored."""
    if out is None:
        return
    path = Path(out)
    if not out:
        raise OutputError("cannot write the result: the name of OUT is empty")
    if path.is_dir():
        raise OutputError(f"cannot write {out!r}: it is a directory; name a file in it")
    is_store = store is not None and path.resolve() == Path(store).resolve()
    if path.is_file():
        with suppress(OSError), path.open("rb") as file:
            is_store = is_store or file.read(len(_SQLITE)) == _SQLITE
    if is_store:
        raise click.UsageError(
            f"-o {out!r} names a store: the result would take the place of the originals; "
            "choose another OUT"
        )


def write_text(text: str, out: str | None, source: str = STDIO) -> None:
    """Write a result to a file, packed if its name says so, or to standard output.

    The file is readable only by those who can read the *source* that it was made from.
    """
    data = text.encode()
    if out is None or out == STDIO:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    if out.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    elif out.endswith(".zst"):
        data = need("zstandard", "zstd").ZstdCompressor().compress(data)
    try:
        if is_stream(out):
            Path(out).write_bytes(data)
            return
        # Written beside the target, then swapped: readers see the old file or the new one. It gets
        # at most the permissions of the old one and of its source.
        path, mode = Path(os.path.realpath(out)), _mode_of(source)
        if path.exists():
            before = stat.S_IMODE(path.stat().st_mode)
            mode = before if mode is None else before & mode
        with replacing(path, mode=OWNER_ONLY | (mode or 0)) as temporary:
            temporary.write_bytes(data)
    except FileNotFoundError as error:
        problem = "its directory does not exist; create that first"
        raise OutputError(f"cannot write {out!r}: {problem}") from error
    except (OSError, ValueError) as error:
        raise OutputError(f"cannot write {out!r}: {_why(error)}") from error


def is_stream(path: str) -> bool:
    """Return whether *path* names a device or a pipe, which cannot be replaced atomically."""
    try:
        mode = Path(path).stat().st_mode  # follows `/dev/stdout` where no path leads
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _mode_of(source: str) -> int | None:
    """Return the permissions of a file; `None` for a pipe, which has none that matter."""
    try:
        status = os.fstat(sys.stdin.fileno()) if source == STDIO else Path(source).stat()
    except (OSError, ValueError):  # ValueError: stdin was replaced by another object
        return None
    return status.st_mode & 0o666 if stat.S_ISREG(status.st_mode) else None


def _why(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)
