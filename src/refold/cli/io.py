"""Read conversation files and write results: whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from refold.cli.document import Document, parse_document
from refold.cli.envelope import is_envelope, open_envelope
from refold.errors import FormatError, OutputError
from refold.private_files import OWNER_ONLY

STDIO: Final = "-"
SQLITE: Final = b"SQLite format 3\0"
"""How every file of SQLite begins."""
GZIP: Final = b"\x1f\x8b"


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
    if is_envelope(others):
        document = open_envelope(document, others)
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
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OutputError(f"cannot write {out!r}: {reason}") from error


def is_stream(path: str) -> bool:
    """Tell whether *path* names a device or a pipe: it takes bytes, but cannot be swapped."""
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
    """Write beside the target, then swap: whoever looks sees the old file or the new one.

    Who may read the new one could read the old one, if there is one, and what has *mode*; without
    either, it is its owner's alone.
    """
    if path.exists():
        before = stat.S_IMODE(path.stat().st_mode)
        mode = before if mode is None else before & mode
    temporary = path.with_name(f".{path.name[:200]}.{os.getpid()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(OWNER_ONLY if mode is None else OWNER_ONLY | mode)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def say(text: str, *, quiet: bool = False) -> None:
    """Tell the user something beside the result, on standard error."""
    if not quiet:
        click.echo(text, err=True)
