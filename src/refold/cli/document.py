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
from dataclasses import dataclass, replace
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Final, NamedTuple

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


class Record(NamedTuple):
    """One message or note of a file: its value, where its text begins and ends, and on which line.

    The line is 0 for a record that is in no file.
    """

    wire: Any
    start: int
    end: int
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The text of a file, and where its records are; all between them stays as it is."""

    name: str
    text: str
    records: Sequence[Record]
    verbatim: Mapping[str, Any] | None = None
    """Originals that came in the same file (what `compress --json` writes)."""
    conversation: str | None = None
    """The name under which its originals are kept, if the caller gave one."""

    @property
    def messages(self) -> list[Any]:
        """The records, as the library takes them."""
        return [record.wire for record in self.records]

    @property
    def gap(self) -> str:
        """The usual text between two records."""
        if len(self.records) > 1:
            return self.text[self.records[0].end : self.records[1].start]
        return ", " if "[" in self.text[: self.records[0].start] else "\n"

    @property
    def style(self) -> Style:
        """How most of its records are spelled."""
        spelled = ((self.text[one.start : one.end], one.wire) for one in self.records)
        return detect_style(spelled, ascii_only=self.text.removeprefix("\ufeff").isascii())

    def replaced(self, changes: Sequence[tuple[range, str]]) -> Document:
        """Return this document with a text in the place of some records; all else stays."""
        if not changes:
            return self
        pieces, end = list[str](), 0
        for place, text in changes:
            first, last = self.records[place.start], self.records[place.stop - 1]
            pieces += (self.text[end : first.start], text)
            end = last.end
        whole = "".join((*pieces, self.text[end:]))
        return replace(self, text=whole, records=_cut(whole, self.records[0].start))


# reading


def read_document(path: str, conversation: str | None = None) -> Document:
    """Read a *conversation* in any known shape, packed by gzip or zstd or not; `-` is stdin."""
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
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise FormatError(f"it is packed by gzip and damaged: {error}", name) from error
    elif data.startswith(_ZSTD):
        zstd = need("zstandard", "zstd")
        try:
            data = zstd.ZstdDecompressor().stream_reader(data, read_across_frames=True).read()
        except zstd.ZstdError as error:
            raise FormatError(f"it is packed by zstd and damaged: {error}", name) from error
    if data.startswith(_SQLITE):
        raise FormatError("it is a store of originals; name the file that was folded", name)
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise FormatError("it is UTF-16, as PowerShell writes it; convert the file to UTF-8", name)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        problem = f"not UTF-8 text: {byte}; convert the file to UTF-8"
        raise FormatError(problem, f"{name}, line {line}") from error
    return replace(parse_document(text, name), conversation=conversation)


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
    """Find out what the JSON is that begins at *start*, and where in it the records are."""
    whole, end = _DECODER.raw_decode(text, start)
    is_more = bool(text[end:].strip(_BLANKS))
    if isinstance(whole, dict):
        key = next((k for k in CONVERSATION_KEYS if type(whole.get(k)) is list), None)
        is_record = "role" in whole or "type" in whole or "parts" in whole
        if is_more or (is_record and key is None):
            return Document(name=name, text=text, records=_cut(text, start))
        if key is None:
            keys = ", ".join(sorted(whole)[:8]) or "no keys at all"
            problem = f'the JSON object has no "messages" list (it has {keys})'
            raise FormatError(f"{problem}; {_EXPECTED}", name)
        if isinstance(whole.get("verbatim"), Mapping) and "compression" in whole:
            return _open_envelope(name, whole[key], dict(whole["verbatim"]))
        return Document(name=name, text=text, records=_cut(text, _find_list(text, start, key)))
    if is_more:
        raise JSONDecodeError("Extra data", text, _skip(text, end))
    if not isinstance(whole, list):
        raise FormatError(f"this is not a conversation; {_EXPECTED}", f"{name}, line 1")
    return Document(name=name, text=text, records=_cut(text, start + 1))


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


def _cut(text: str, start: int) -> list[Record]:
    """Return the records from *start* on, of a list or one after the other."""
    records, line, counted = list[Record](), 1, 0
    place = _skip(text, start)
    while place < len(text) and text[place] != "]":
        wire, end = _DECODER.raw_decode(text, place)
        line += text.count("\n", counted, place)
        records.append(Record(wire, place, end, line))
        counted, place = place, _skip(text, end)
    return records


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
        line = document.records[int(index[1])].line if index else 0
        raise FormatError(str(error), _place(document, line)) from error
    except NestingError as error:
        line = next((one.line for one in document.records if _is_too_deep(one.wire)), 0)
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
    records, style, gap = document.records[:count], document.style, document.gap
    text = document.text[records[0].start : records[-1].end]
    if gap.join([style.dump(record.wire) for record in records]) == text:
        return {"style": style.to_wire(), "gap": gap, "count": count}
    return {"text": text, "count": count}


def spell_as_noted(wires: Sequence[Any], note: object) -> str | None:
    """Spell records as `note_spelling` has noted; `None` if that was of other records."""
    match note:
        case {"text": str() as text, "count": count} if count == len(wires):
            is_same = digest([record.wire for record in _cut(text, 0)]) == digest(list(wires))
            return text if is_same else None
        case {"style": style, "gap": str() as gap, "count": count} if count == len(wires):
            return gap.join(map(Style.from_wire(style).dump, wires))
    return None


_FILE_KEY: Final = "refold:file"
"""The key under `verbatim` for the text around the messages of the file, and their spelling."""
_PLAIN: Final[dict[str, Any]] = {
    "head": "[\n  ",
    "gap": ",\n  ",
    "last": "",
    "tail": "\n]\n",
    "style": {"item_separator": ",", "indent": "  ", "newline": "\n  ", "ascii_only": False},
}
"""How messages are spelled that were in no file."""


def dump_envelope(document: Document, verbatim: Mapping[str, Any], figures: Any) -> str:
    """Serialize a folded file, its originals and the figures as one line of JSON."""
    file: dict[str, Any] = {**_PLAIN, "head": document.text, "tail": ""}
    if document.records:
        start, end = document.records[0].start, document.records[-1].end
        file |= {"style": document.style.to_wire(), "gap": document.gap}
        file |= {"head": document.text[:start], "tail": document.text[end:]}
        file |= note_spelling(document, len(document.records))
    messages, originals = document.messages, {**verbatim, _FILE_KEY: file}
    return dump_line({"messages": messages, "verbatim": originals, "compression": figures})


def dump_line(value: object) -> str:
    """Serialize *value* as one line of JSON."""
    return Style(ascii_only=False).dump(value) + "\n"


def _open_envelope(name: str, messages: Sequence[Any], originals: dict[str, Any]) -> Document:
    """Return the folded file inside an envelope, with its originals."""
    match originals.pop(_FILE_KEY, None):
        case {"head": str(), "gap": str(), "last": str(), "tail": str(), "style": _} as file:
            pass
        case _:
            file = _PLAIN
    body = spell_as_noted(messages, file)
    if body is None:
        body = file["gap"].join(map(Style.from_wire(file["style"]).dump, messages))
    text = f"{file['head']}{body}{file['last']}{file['tail']}"
    records = [one._replace(line=0) for one in _cut(text, len(file["head"]))]
    return Document(name=name, text=text, records=records, verbatim=originals)


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
            f"-o {out!r} names a store: the result would replace the originals; choose another OUT"
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
