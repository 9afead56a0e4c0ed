"""Where the originals of a file are kept: a store, a file beside it, or the file itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from refold.cli.document import Document
from refold.cli.folding import LINES_PREFIX, Originals, may_be_folded, scope_store, unfold_file
from refold.cli.io import SQLITE, STDIO
from refold.errors import FormatError, NestingError, OutputError, StoreError
from refold.messages.provenance import LINK_PREFIX, find_seals, read_link, read_provenance
from refold.messages.wire import digest
from refold.stores import MemoryStore, Store
from refold.stores.base import OpenStore
from refold.stores.codec import MAX_DEPTH, encode_value
from refold.stores.opening import is_file, open_store
from refold.stores.sqlite_file import copy_entries
from refold.stores.upkeep import copy_store


def sidecar_of(path: str) -> Path:
    """Return the place of the store beside a file."""
    return Path(f"{path}.refold.db")


class Sidecar:
    """A store beside a file: it is there once something is put into it, not before."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self._path = path
        self._stack = stack
        self._store: OpenStore | None = None

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep *entries*, in a new file if need be."""
        self._open().put(entries)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known; nothing while there is no file."""
        if self._store is None and not self._path.exists():
            return {}
        return self._open().get(keys)

    def _open(self) -> OpenStore:
        if self._store is None:
            self._store = self._stack.enter_context(open_store(self._path))
        return self._store


class ReadOnlyStore:
    """A store that is only looked into: it notes what was found, and keeps nothing that is put."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.found: dict[str, Any] = {}

    def put(self, entries: Mapping[str, Any]) -> None:
        """Look as if *entries* were kept."""

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known."""
        found = self._store.get(keys)
        self.found.update(found)
        return found


def inherit(document: Document, source: str, target: str) -> None:
    """Let a store know what is known of the originals of *source*: its stand-ins travel along."""
    known = sidecar_of(source)
    if document.verbatim is not None:
        with open_store(target) as store:
            scope_store(store, document).put(_entries(document))
    elif source != STDIO and known.exists() and not _is_same_file(target, known):
        if is_file(target):
            copy_entries(known.absolute(), Path(target).absolute())
        else:
            with open_store(known, read_only=True) as old, open_store(target) as new:
                copy_store(old, new)


def _is_same_file(target: str, known: Path) -> bool:
    return is_file(target) and Path(target).exists() and known.samefile(target)


@contextmanager
def locating_nesting_errors(document: Document) -> Iterator[None]:
    """Say which line a store refuses, and where else its originals could be kept."""
    try:
        yield
    except NestingError as error:
        line = next((item.line for item in document.items if not _is_storable(item.wire)), 0)
        raise FormatError(
            f"nested more than {MAX_DEPTH} levels deep, which no store takes; "
            "use --json without --store: the originals then go into the output",
            f"{document.name}, line {line}" if line else document.name,
        ) from error


def _is_storable(wire: Any) -> bool:
    try:
        encode_value("", wire)
    except NestingError:
        return False
    return True


def check_out(out: str | None, store: str | None) -> None:
    """Refuse to write a result over a directory or a store, before anything is read or kept."""
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
    """Return whether there is an SQLite file; what cannot be read is none."""
    with suppress(OSError):
        if path.is_file():  # a pipe would block
            with path.open("rb") as file:
                return file.read(len(SQLITE)) == SQLITE
    return False


def open_embedded(document: Document) -> MemoryStore:
    """Return a store in memory that knows the originals that came with *document*."""
    store = MemoryStore()
    scope_store(store, document).put(_entries(document))
    return store


def _entries(document: Document) -> dict[str, Any]:
    """Name the originals that came with a file as a store does, by content; with what seals it."""
    notes: dict[str, Any] = {}
    originals = []
    for key, value in (document.verbatim or {}).items():
        if key.startswith((LINK_PREFIX, LINES_PREFIX)):
            notes[key] = value
        else:
            originals.append(value)
    seals = find_seals((*document.messages, *originals), document.conversation)
    return {**notes, **seals, **{digest(value): value for value in originals}}


def open_for_preview(
    document: Document, path: str, store_path: str | None, stack: ExitStack
) -> Store:
    """Return what is known of a file's originals, so that earlier stand-ins are recognised."""
    found = _find(document, path, store_path, stack)
    if found is None or isinstance(found, Mapping):
        return open_embedded(document)
    return ReadOnlyStore(found)


def embed_originals(document: Document, path: str, store_path: str | None) -> Document:
    """Return *document* with the originals of its stand-ins in it, wherever they are now.

    A store that is not there yet is no place to look.
    """
    known = store_path
    if store_path is not None and is_file(store_path) and not Path(store_path).exists():
        known = None
    with ExitStack() as stack:
        found = _find(document, path, known, stack)
        if found is None or isinstance(found, Mapping):
            return document
        reader = ReadOnlyStore(scope_store(found, document))
        unfold_file(document, reader, one_layer=False)
    verbatim = _verbatim(document.messages, reader.found)
    return replace(document, verbatim={**(document.verbatim or {}), **verbatim})


def _verbatim(messages: Iterable[Mapping[str, Any]], found: Mapping[str, Any]) -> dict[str, Any]:
    """Name the originals that a store had by the ids that the stand-ins call them."""
    notes = {key: found[key] for key in found if key.startswith((LINK_PREFIX, LINES_PREFIX))}
    links = [read_link(notes[key]) for key in notes if key.startswith(LINK_PREFIX)]
    wires = [*messages, *(wire for wire in found.values() if isinstance(wire, Mapping))]
    originals = {
        id_: found[key]
        for provenance in (*links, *map(read_provenance, wires))
        if provenance is not None
        for id_, key in zip(provenance.ids, provenance.digests or provenance.ids, strict=True)
        if key in found
    }
    return {**originals, **notes}


def find_originals(
    document: Document, path: str, store_path: str | None, stack: ExitStack
) -> Originals:
    """Return the originals of a folded file; it is an error if it needs some and there are none."""
    found = _find(document, path, store_path, stack)
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
    """Open a store that must be there, to read from it."""
    if is_file(address) and not Path(address).exists():
        raise StoreError(f"the store {address!r} does not exist; check the path of --store")
    return stack.enter_context(open_store(address, read_only=True))


def _find(
    document: Document, path: str, store_path: str | None, stack: ExitStack
) -> Originals | None:
    """Return the originals of a file from the first place there is: --store, itself, its sidecar.

    Whatever reads a folded file asks this. A store may have those of other conversations, too.
    """
    if store_path is not None:
        return open_known(store_path, stack)
    if document.verbatim is not None:
        return document.verbatim
    sidecar = sidecar_of(path)
    if path != STDIO and sidecar.exists():
        return stack.enter_context(open_store(sidecar, read_only=True))
    return None
