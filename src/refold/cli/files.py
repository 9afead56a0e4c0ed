"""The files of a command: read a conversation, find its originals, write the result."""

from __future__ import annotations

import os
import stat
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from refold.cli.document import Document, parse_document
from refold.cli.folding import LINES_PREFIX, Originals, may_be_folded, scope_store
from refold.errors import FormatError, OutputError, StoreError
from refold.messages.provenance import RECORD_PREFIXES
from refold.messages.wire import digest
from refold.private_files import OWNER_ONLY, replacing
from refold.stores import MemoryStore, Store
from refold.stores.base import OpenStore
from refold.stores.opening import is_missing, open_store

STDIO: Final = "-"
SQLITE: Final = b"SQLite format 3\0"
"""The first bytes of every SQLite file."""
GZIP: Final = b"\x1f\x8b"


def read_document(path: str, conversation: str | None = None) -> Document:
    """Read a *conversation* in any known shape; `-` is standard input."""
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
    return replace(parse_document(text, name), conversation=conversation)


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

    The file is readable only by those who can read the *source* that it was made from.
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


def _write_file(path: Path, data: bytes, mode: int | None) -> None:
    """Write beside the target, then swap: readers see the old file or the new one.

    The new file gets at most the permissions of the old one, if there is one, and of *mode*;
    without either, only its owner can read it.
    """
    if path.exists():
        before = stat.S_IMODE(path.stat().st_mode)
        mode = before if mode is None else before & mode
    with replacing(path, mode=OWNER_ONLY | (mode or 0)) as temporary:
        temporary.write_bytes(data)


def sidecar_of(path: str) -> Path:
    """Return the path of the store beside a file."""
    return Path(f"{path}.refold.db")


class ReadOnlyStore:
    """Reads from a store and notes what was found; ignores what is put."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.found: dict[str, Any] = {}

    def put(self, entries: Mapping[str, Any]) -> None:
        """Ignore *entries*."""

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known."""
        found = self._store.get(keys)
        self.found.update(found)
        return found


def check_out(out: str | None, store: str | None) -> None:
    """Refuse to write a result over a directory or a store, before anything is read or stored."""
    if out is None:
        return
    path = Path(out)
    if not out:
        raise OutputError("cannot write the result: the name of OUT is empty")
    if path.is_dir():
        raise OutputError(f"cannot write {out!r}: it is a directory; name a file in it")
    if (store is not None and path.resolve() == Path(store).resolve()) or is_store(path):
        raise click.UsageError(
            f"-o {out!r} names a store: the result would take the place of the originals; "
            "choose another OUT"
        )


def is_store(path: Path) -> bool:
    """Return whether *path* is a readable SQLite file."""
    with suppress(OSError):
        if path.is_file():  # a pipe would block
            with path.open("rb") as file:
                return file.read(len(SQLITE)) == SQLITE
    return False


def open_embedded(document: Document) -> MemoryStore:
    """Return a store in memory with the originals embedded in *document*."""
    store = MemoryStore()
    scope_store(store, document).put(embedded_entries(document))
    return store


def embedded_entries(document: Document) -> dict[str, Any]:
    """Return the originals embedded in a file under the keys of a store."""
    return {
        key if key.startswith((*RECORD_PREFIXES, LINES_PREFIX)) else digest(value): value
        for key, value in (document.verbatim or {}).items()
    }


def open_for_preview(
    document: Document, path: str, store_path: str | None, stack: ExitStack
) -> Store:
    """Return a store with the known originals of a file, to recognize earlier stand-ins."""
    found = find_known(document, path, store_path, stack)
    if found is None or isinstance(found, Mapping):
        return open_embedded(document)
    return ReadOnlyStore(found)


def find_originals(
    document: Document, path: str, store_path: str | None, stack: ExitStack
) -> Originals:
    """Return the originals of a folded file; raise `StoreError` if it needs some and has none."""
    found = find_known(document, path, store_path, stack)
    if found is not None:
        return found if isinstance(found, Mapping) else scope_store(found, document)
    if not any(isinstance(wire, Mapping) and may_be_folded(wire) for wire in document.messages):
        return {}  # nothing in it looks folded, so nothing is missing
    sidecar = str(sidecar_of(path))
    looked = "standard input has none with it" if path == STDIO else f"there is no {sidecar!r}"
    raise StoreError(
        f"no originals for {document.name}: {looked}; name their store with --store STORE, "
        "or unfold a document that was written with compress --json"
    )


def open_known(address: str, stack: ExitStack) -> OpenStore:
    """Open an existing store to read from it."""
    if is_missing(address):
        raise StoreError(f"the store {address!r} does not exist; check the path of --store")
    return stack.enter_context(open_store(address, read_only=True))


def find_known(
    document: Document, path: str, store_path: str | None, stack: ExitStack
) -> Originals | None:
    """Return the originals of a file from --store, else from the file itself, else its sidecar.

    A store may hold those of other conversations, too.
    """
    if store_path is not None:
        return open_known(store_path, stack)
    if document.verbatim is not None:
        return document.verbatim
    sidecar = sidecar_of(path)
    if path != STDIO and sidecar.exists():
        return stack.enter_context(open_store(sidecar, read_only=True))
    return None
