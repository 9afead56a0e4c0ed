"""Read conversation files and write results atomically, a fold in one file among them."""

from __future__ import annotations

import json
import os
import stat
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from refold.cli.document import Document, Item, parse_document
from refold.errors import FormatError, OutputError
from refold.messages.json_style import Style, says
from refold.private_files import OWNER_ONLY, replacing
from refold.result import Compression

STDIO: Final = "-"
SQLITE: Final = b"SQLite format 3\0"
"""How every file of SQLite begins."""
GZIP: Final = b"\x1f\x8b"
_FILE_KEY: Final = "refold:file"
"""Under `verbatim`: how the file looked that the messages came from, so that it can come back."""

_LIST: Final = Document(
    name="",
    head="[\n  ",
    tail="\n]\n",
    gap=",\n  ",
    style=Style(item_separator=",", indent="  ", newline="\n  ", ascii_only=False),
)
"""How messages are written when nothing is known about their file."""


def read_document(path: str, conversation: str | None = None) -> Document:
    """Read a *conversation* in any of the shapes we know; `-` is standard input."""
    name = "standard input" if path == STDIO else path
    data = _read_bytes(path, name)
    if data.startswith(SQLITE):
        raise FormatError("it is a store of originals; name the file that was folded", name)
    if data.startswith(GZIP):
        raise FormatError("it is compressed by gzip; unpack it first", name)
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise FormatError("it is UTF-16, as PowerShell writes it; convert the file to UTF-8", name)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(
            f"not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}; "
            "convert the file to UTF-8",
            f"{name}, line {line}",
        ) from error
    document, others = parse_document(text, name)
    if _is_envelope(others):
        document = _open_envelope(document, others)
    return replace(document, conversation=conversation)


def _read_bytes(path: str, name: str) -> bytes:
    if not path:
        raise FormatError("the name of the file is empty")
    try:
        return sys.stdin.buffer.read() if path == STDIO else Path(path).read_bytes()
    except FileNotFoundError as error:
        raise FormatError("no such file", name) from error
    except IsADirectoryError as error:
        raise FormatError("it is a directory; name a file in it", name) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FormatError(f"cannot be read: {reason}", name) from error


def write_text(text: str, out: str | None, source: str = STDIO) -> None:
    """Write a result to a file, or to standard output if *out* is None or `-`.

    Nobody can read the file who could not read the *source* that it was made from.
    """
    data = text.encode()
    if out is None or out == STDIO:
        stream = sys.stdout.buffer
        stream.write(data)
        stream.flush()
        return
    try:
        if is_stream(out):
            Path(out).write_bytes(data)
        else:
            _write_file(Path(os.path.realpath(out)), data, _mode_of(source))
    except FileNotFoundError as error:
        raise OutputError(
            f"cannot write {out!r}: its directory does not exist; create that first"
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"cannot write {out!r}: {reason}") from error


def write_json(data: object) -> None:
    """Write *data* to standard output as JSON for people and programs."""
    write_text(json.dumps(data, indent=2) + "\n", None)


def is_stream(path: str) -> bool:
    """Return whether *path* names a device or a pipe: it takes bytes, but cannot be swapped."""
    try:
        mode = Path(path).stat().st_mode  # follows `/dev/stdout` where no path leads
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _mode_of(source: str) -> int | None:
    """Return who may read and write a file; `None` for a pipe, which has nothing to say on that."""
    try:
        status = os.fstat(sys.stdin.fileno()) if source == STDIO else Path(source).stat()
    except (OSError, ValueError):  # ValueError: something else has taken the place of stdin
        return None
    return status.st_mode & 0o666 if stat.S_ISREG(status.st_mode) else None


def _write_file(path: Path, data: bytes, mode: int | None) -> None:
    """Write beside the target, then swap: readers see the old file or the new one.

    Who may read the new one could read the old one, if there is one, and what has *mode*; without
    either, it is its owner's alone.
    """
    if path.exists():
        before = stat.S_IMODE(path.stat().st_mode)
        mode = before if mode is None else before & mode
    with replacing(path, mode=OWNER_ONLY | (mode or 0)) as temporary:
        temporary.write_bytes(data)


def say(text: str, *, quiet: bool = False) -> None:
    """Print a message to standard error, where it is no part of the result."""
    if not quiet:
        click.echo(text, err=True)


def _is_envelope(others: Mapping[str, Any]) -> bool:
    """Return whether an object with `messages` and these other keys is a fold in one file."""
    return isinstance(others.get("verbatim"), Mapping) and "compression" in others


def _open_envelope(document: Document, others: Mapping[str, Any]) -> Document:
    """Return the folded file that *document* carries, with its originals at hand."""
    verbatim = dict(others["verbatim"])
    noted = verbatim.pop(_FILE_KEY, None)
    layout: Mapping[str, Any] = noted if isinstance(noted, Mapping) else {}
    shell = replace(_read_shell(layout), name=document.name, verbatim=verbatim)
    return shell.with_items(_items(document, shell, layout))


def dump_envelope(document: Document, verbatim: Mapping[str, Any], compression: Compression) -> str:
    """Spell a folded file, its originals and the figures as one line of JSON."""
    body = {
        "messages": document.messages,
        "verbatim": {**verbatim, _FILE_KEY: _layout(document)},
        "compression": compression.to_dict(),
    }
    return Style(ascii_only=False).dump(body) + "\n"


def _layout(document: Document) -> dict[str, Any]:
    """Note what cannot be worked out from the messages: the style, and where it is not kept."""
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
    """Spell every message as it stood in its file, or in that file's style if it was changed."""
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
