"""Where the originals of a file are kept: a store, a file beside it, or the file itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import click

from refold.cli.document import Document
from refold.cli.folding import Originals, may_be_folded
from refold.cli.io import SQLITE, STDIO, OutputError
from refold.errors import StoreError
from refold.stores import MemoryStore, SqliteStore
from refold.stores.sqlite_file import copy_entries


def sidecar_of(path: str) -> Path:
    """Return the place of the store beside a file."""
    return Path(f"{path}.refold.db")


class Sidecar:
    """A store beside a file: it is there once something is put into it, not before."""

    def __init__(self, path: Path, stack: ExitStack, *, read_only: bool = False) -> None:
        self._path = path
        self._stack = stack
        self._read_only = read_only
        self._store: SqliteStore | None = None

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep *entries*, in a new file if need be; a read-only sidecar only looks as if it did."""
        if not self._read_only:
            self._open().put(entries)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known; nothing while there is no file."""
        if self._store is None and not self._path.exists():
            return {}
        return self._open().get(keys)

    def _open(self) -> SqliteStore:
        if self._store is None:
            store = SqliteStore(self._path, read_only=self._read_only)
            self._store = self._stack.enter_context(store)
        return self._store


def inherit(source: str, target: Path) -> None:
    """Let a store know what the sidecar of *source* knows: its stand-ins travel along."""
    known = sidecar_of(source)
    if source != STDIO and known.exists() and not (target.exists() and target.samefile(known)):
        copy_entries(known.absolute(), target.absolute())


def check_out(out: str | None, store: str | None) -> None:
    """Refuse to write a result over a directory or a store, before anything is read or kept."""
    if out is None:
        return
    path = Path(out)
    if path.is_dir():
        raise OutputError(f"cannot write {out!r}: it is a directory; name a file in it")
    if (store is not None and path.resolve() == Path(store).resolve()) or is_store(path):
        raise click.UsageError(
            f"-o {out!r} names a store: the result would take the place of the originals; "
            "choose another OUT"
        )


def is_store(path: Path) -> bool:
    """Tell whether there is an SQLite file; what cannot be read is none."""
    with suppress(OSError):
        if path.is_file():  # a pipe would wait for somebody to write into it
            with path.open("rb") as file:
                return file.read(len(SQLITE)) == SQLITE
    return False


def open_embedded(document: Document) -> MemoryStore:
    """Return a store in memory that knows the originals that came with *document*."""
    store = MemoryStore()
    if document.verbatim:
        store.put(document.verbatim)
    return store


def open_for_looking(document: Document, path: str, stack: ExitStack) -> MemoryStore | Sidecar:
    """Return what is known of a file's originals, so that earlier stand-ins are recognised."""
    if document.verbatim is not None or path == STDIO:
        return open_embedded(document)
    return Sidecar(sidecar_of(path), stack, read_only=True)


def find_originals(
    document: Document, path: str, store_path: str | None, stack: ExitStack
) -> Originals:
    """Return the originals of a folded file, from the first place that has any."""
    if store_path is not None:
        if not Path(store_path).exists():
            raise StoreError(f"the store {store_path!r} does not exist; check the path of --store")
        return stack.enter_context(SqliteStore(store_path, read_only=True))
    if document.verbatim is not None:
        return document.verbatim
    sidecar = sidecar_of(path)
    if path != STDIO and sidecar.exists():
        return stack.enter_context(SqliteStore(sidecar, read_only=True))
    if not any(isinstance(wire, Mapping) and may_be_folded(wire) for wire in document.messages):
        return {}  # nothing in it looks folded, so nothing is missing
    looked = "standard input has none with it" if path == STDIO else f"there is no {str(sidecar)!r}"
    raise StoreError(
        f"no originals for {document.name}: {looked}; name their store with --store DB, "
        "or unfold a document that was written with compress --json"
    )
