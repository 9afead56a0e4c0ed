"""Export a store to a file of JSON lines and import it again; compressed if its name says so.

The first line names the format, and the last one has the number of originals, so that truncated
files are refused. An export is plain text, even that of an encrypted store.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Literal

from refold.checks import need
from refold.errors import StoreError
from refold.private_files import make_private
from refold.stores.base import Store, managed
from refold.stores.codec import parse_json, spell_json
from refold.stores.upkeep import OnProgress, batches, ignore_progress

_FORMAT: Final = "refold originals"
_VERSION: Final = 1
"""Increased with each change of the format that older versions cannot read."""


def export_store(
    store: Store, path: Path, *, prefix: str = "", on_progress: OnProgress = ignore_progress
) -> int:
    """Write the entries of *store* whose keys begin with *prefix* to *path*; return how many.

    `.gz` and `.zst` are compressed. Only the owner can read the file.
    """
    make_private(path)
    done = 0
    with _open(path, "w") as (file, _):
        file.write(_line(format=_FORMAT, version=_VERSION))
        for keys in batches(entry.key for entry in managed(store).entries(prefix)):
            for key, value in store.get(keys).items():
                # Not encoded as one value, which could exceed the allowed nesting.
                name, data = spell_json(key, key), spell_json(key, value)
                file.write(b'{"key":%b,"value":%b}\n' % (name, data))
                done += 1
            on_progress(done)
        file.write(_line(entries=done))
    return done


def import_store(store: Store, path: Path, *, on_share: OnProgress = ignore_progress) -> int:
    """Put what `export_store` wrote into *store*; return how many entries there were.

    Existing entries stay as they are, so that an interrupted import can be repeated. *on_share* is
    called with the share of the file that was read, from 0 to 1: only the end of the file says how
    many originals there are.
    """
    done = 0
    with _open(path, "r") as (file, packed):
        size = os.fstat(packed.fileno()).st_size
        for records in batches(_records(file, path)):
            store.put(dict(records))
            done += len(records)
            on_share(packed.tell() / size)
    return done


def _records(file: IO[bytes], path: Path) -> Iterator[tuple[str, Any]]:
    """Yield keys and values; raise `StoreError` if anything is missing."""
    head = _parse(file.readline(), path, 1)
    if head.get("format") != _FORMAT or head.get("version") != _VERSION:
        raise StoreError(f"{str(path)!r} is no export of a store that this refold knows")
    count = 0
    for number, line in enumerate(file, 2):
        record = _parse(line, path, number)
        if "entries" in record:
            if record["entries"] != count:
                raise StoreError(f"{str(path)!r} has {count} originals, not {record['entries']}")
            if file.read(1):  # this also verifies the checksum of a compressed file
                raise StoreError(f"{str(path)!r} has data after its end")
            return
        if not isinstance(record.get("key"), str) or "value" not in record:
            raise StoreError(f"{str(path)!r}, line {number}: not an original")
        count += 1
        yield record["key"], record["value"]
    raise StoreError(f"{str(path)!r} is cut off after {count} originals")


def _line(**fields: Any) -> bytes:
    return spell_json("", fields) + b"\n"


def _parse(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        record = parse_json(line)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{str(path)!r}, line {number}: not JSON ({error})") from error
    return record if isinstance(record, dict) else {}


@contextmanager
def _open(path: Path, mode: Literal["r", "w"]) -> Iterator[tuple[IO[bytes], BinaryIO]]:
    """Open a file; yield its uncompressed content and the file itself."""
    try:
        with path.open("wb" if mode == "w" else "rb") as file, _packed(file, path, mode) as data:
            yield data, file
    except (OSError, EOFError) as error:
        doing = "write" if mode == "w" else "read"
        raise StoreError(f"cannot {doing} {str(path)!r}: {error}") from error


@contextmanager
def _packed(file: BinaryIO, path: Path, mode: str) -> Iterator[Any]:
    """Yield *file* through the compression that its name stands for."""
    if path.suffix == ".gz":
        with gzip.GzipFile(fileobj=file, mode=f"{mode}b") as packed:
            yield packed
    elif path.suffix == ".zst":
        zstandard = need("zstandard", "zstd", what="a .zst file", error=StoreError)
        try:
            with zstandard.open(file, f"{mode}b") as packed:
                yield io.BufferedReader(packed) if mode == "r" else packed
        except zstandard.ZstdError as error:
            raise StoreError(f"{str(path)!r} is damaged ({error})") from error
    else:
        yield file
