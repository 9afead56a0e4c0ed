"""Look after a store: what is in it, whether it is sound, and all of it somewhere else.

Somewhere else is another store, or one file that people and programs can read: JSON lines, packed
if its name says so. The first line says what it is and the last one how much there was: what was
cut off is refused. An export is plain text, also that of an encrypted store that was opened with
its keys.
"""

from __future__ import annotations

import gzip
import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Literal, TypeVar

from refold.checks import need
from refold.errors import StoreError
from refold.model.wire import digest
from refold.private_files import make_private
from refold.stores.base import Store, managed
from refold.stores.codec import parse_json, spell_json
from refold.stores.encrypted import LockedError, is_sealed
from refold.stores.key import AUDIT_PREFIX, is_digest
from refold.stores.scope import period_of, scopes_of

T = TypeVar("T")

OnProgress = Callable[[float], None]
"""Called with how many originals are done, or with the share of them."""

_BATCH: Final = 500
"""How many originals are in memory at a time: fewer take more round trips. A guess."""
_FORMAT: Final = "refold originals"
_VERSION: Final = 1


def _ignore_progress(done: float) -> None:
    """Show nothing."""


@dataclass(slots=True, kw_only=True)
class StoreStat:
    """How much there is in a store."""

    entries: int = 0
    """Originals; what was noted of removals is none."""
    size: int = 0
    """Bytes at rest, keys included, without what a database needs besides."""
    oldest: float | None = None
    newest: float | None = None
    scopes: Counter[str] = field(default_factory=Counter)
    """Originals of each conversation or tenant, by name; those without one under `""`."""
    sizes: Counter[str] = field(default_factory=Counter)
    """Bytes of each of them."""
    notes: int = 0
    """Notes of removals: see `read_audit`."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "entries": self.entries,
            "size": self.size,
            "oldest": self.oldest,
            "newest": self.newest,
            "scopes": dict(self.scopes),
            "sizes": dict(self.sizes),
            "notes": self.notes,
        }


def stat_store(store: Store, *, on_progress: OnProgress = _ignore_progress) -> StoreStat:
    """Count what is in *store*, without reading it."""
    stat = StoreStat()
    for entry in managed(store).entries():
        if entry.key.startswith(AUDIT_PREFIX):
            stat.notes += 1
            continue
        stat.entries += 1
        stat.size += entry.size
        names, _ = scopes_of(entry.key)
        name = names[0] if names else ""
        stat.scopes[name] += 1
        stat.sizes[name] += entry.size
        if entry.written_at is not None:
            when = entry.written_at
            stat.oldest = when if stat.oldest is None else min(stat.oldest, when)
            stat.newest = when if stat.newest is None else max(stat.newest, when)
        if stat.entries % _BATCH == 0:
            on_progress(stat.entries)
    return stat


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a store is sound."""

    entries: int
    damaged: tuple[str, ...]
    """Keys whose values cannot be read, or are not what their key says."""
    sealed: int = 0
    """How many are encrypted, and were read without keys: nothing is known of those."""
    locked: int = 0
    """How many are encrypted with a key that was not given, or not encrypted where all should be:
    nothing is known of those either."""
    why_locked: str = ""
    """What was wrong with the first of them."""


def verify_store(store: Store, *, on_progress: OnProgress = _ignore_progress) -> Verdict:
    """Read everything in *store*: packing, digests, and that originals are what they are named."""
    checked = sealed = 0
    damaged: list[str] = []
    locked: list[str] = []
    for keys in _batches(entry.key for entry in managed(store).entries()):
        found = _read_what_can_be(store, keys, damaged, locked)
        sealed += sum(map(is_sealed, found.values()))
        damaged += (
            key
            for key, value in found.items()
            if not is_sealed(value) and not _is_named_right(key, value)
        )
        checked += len(keys)
        on_progress(checked)
    return Verdict(
        entries=checked,
        damaged=tuple(damaged),
        sealed=sealed,
        locked=len(locked),
        why_locked=next(iter(locked), ""),
    )


def copy_store(
    source: Store, target: Store, *, prefix: str = "", on_progress: OnProgress = _ignore_progress
) -> int:
    """Put into *target* what *source* has under keys that begin with *prefix*; return how much.

    What *target* has already stays as it is, so that this may be done again if it was broken off.
    """
    done = 0
    for keys in _batches(entry.key for entry in managed(source).entries(prefix)):
        target.put(source.get(keys))
        done += len(keys)
        on_progress(done)
    return done


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield *items*, some at a time."""
    rest = iter(items)
    while some := list(islice(rest, _BATCH)):
        yield some


def _read_what_can_be(
    store: Store, keys: list[str], damaged: list[str], locked: list[str]
) -> dict[str, Any]:
    """Return what can be read of *keys*; note what is damaged, and why others are locked."""
    try:
        return store.get(keys)
    except StoreError:
        found: dict[str, Any] = {}
        for key in keys:
            try:
                found.update(store.get([key]))
            except LockedError as error:
                locked.append(str(error))
            except StoreError:
                damaged.append(key)
        return found


def _is_named_right(key: str, value: Any) -> bool:
    """Return whether *value* is what its key says, if that is named by content."""
    _, rest = scopes_of(key)
    name = rest.removeprefix(period_of(rest))
    return not is_digest(name) or digest(value) == name


def export_store(store: Store, path: Path, *, on_progress: OnProgress = _ignore_progress) -> int:
    """Write all that *store* has to *path*; return how much.

    `.gz` and `.zst` are packed. The file is for its owner alone.
    """
    make_private(path)
    done = 0
    with _open(path, "w") as (file, _):
        file.write(_line(format=_FORMAT, version=_VERSION))
        for keys in _batches(entry.key for entry in managed(store).entries()):
            for key, value in store.get(keys).items():
                # Put together by hand, for a value may be nested as deeply as is allowed.
                name, data = spell_json(key, key), spell_json(key, value)
                file.write(b'{"key":%b,"value":%b}\n' % (name, data))
                done += 1
            on_progress(done)
        file.write(_line(entries=done))
    return done


def import_store(store: Store, path: Path, *, on_share: OnProgress = _ignore_progress) -> int:
    """Put what `export_store` wrote into *store*; return how much there was.

    What *store* has already stays as it is, so that this may be done again if it was broken off.
    *on_share* is called with the share of the file that is read, from 0 to 1: only its end says how
    many originals there are.
    """
    done = 0
    with _open(path, "r") as (file, packed):
        size = os.fstat(packed.fileno()).st_size
        for records in _batches(_records(file, path)):
            store.put(dict(records))
            done += len(records)
            on_share(packed.tell() / size)
    return done


def _records(file: IO[bytes], path: Path) -> Iterator[tuple[str, Any]]:
    """Yield keys and values, and see to it that nothing is missing."""
    head = _parse(file.readline(), path, 1)
    if head.get("format") != _FORMAT or head.get("version") != _VERSION:
        raise StoreError(f"{str(path)!r} is no export of a store that this refold knows")
    count = 0
    for number, line in enumerate(file, 2):
        record = _parse(line, path, number)
        if "entries" in record:
            if record["entries"] != count:
                raise StoreError(f"{str(path)!r} has {count} originals, not {record['entries']}")
            if file.read(1):  # which also compares the checksum of what is packed
                raise StoreError(f"{str(path)!r} goes on behind its end")
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
    """Lend what is in a file, or goes into it, and the file itself."""
    try:
        with path.open("wb" if mode == "w" else "rb") as file, _packed(file, path, mode) as data:
            yield data, file
    except (OSError, EOFError) as error:
        doing = "write" if mode == "w" else "read"
        raise StoreError(f"cannot {doing} {str(path)!r}: {error}") from error


@contextmanager
def _packed(file: BinaryIO, path: Path, mode: str) -> Iterator[Any]:
    """Lend *file* through what its name says that it is packed with."""
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
