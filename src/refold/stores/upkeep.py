"""Look after a store: count, verify, copy, export, import, expire, forget, audit.

An export is a file of JSON lines, compressed if its name says so. The first line names the format,
and the last one has the number of originals, so that truncated files are refused. It is plain text,
even that of an encrypted store.

A removal leaves two audit notes, one before and one after it, so that an interrupted one shows. A
note says what was removed, when, how much, and why. Names in it are digests, because a person who
asks to be forgotten wants that for the name, too.
"""

from __future__ import annotations

import gzip
import io
import math
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from itertools import islice
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Literal, TypeVar

from refold.checks import check_name, check_number, need
from refold.errors import ConfigError, StoreError
from refold.messages.wire import digest, text_digest
from refold.private_files import make_private
from refold.stores.base import AUDIT_PREFIX, Removed, Store, managed
from refold.stores.codec import ends_in_digest, parse_json, spell_json
from refold.stores.encrypted import LockedError, is_sealed
from refold.stores.scope import period_of, scope_prefix, scopes_of

T = TypeVar("T")

OnProgress = Callable[[float], None]
"""Called with the number of originals done, or with their share."""
BATCH: Final = 500
"""How many originals are in memory at a time."""
_FORMAT: Final = "refold originals"
_VERSION: Final = 1
"""Increased with each change of the format that older versions cannot read."""


def ignore_progress(done: float) -> None:
    """Show nothing."""


@dataclass(slots=True, kw_only=True)
class StoreStat:
    """The content of a store in figures."""

    entries: int = 0
    """The number of originals, without audit notes."""
    size: int = 0
    """Bytes including keys, without the overhead of a database."""
    oldest: float | None = None
    newest: float | None = None
    scopes: Counter[str] = field(default_factory=Counter)
    """Originals by conversation or tenant; those without a name are under `""`."""
    sizes: Counter[str] = field(default_factory=Counter)
    """Bytes by conversation or tenant."""
    notes: int = 0
    """The number of audit notes: see `read_audit`."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        # Not `asdict`, which takes a Counter for a dict that is made of pairs.
        return {one.name: getattr(self, one.name) for one in fields(self)}


def stat_store(store: Store, *, on_progress: OnProgress = ignore_progress) -> StoreStat:
    """Count the entries of *store*, without reading their values."""
    stat = StoreStat()
    for entry in managed(store).entries():
        if entry.key.startswith(AUDIT_PREFIX):
            stat.notes += 1
            continue
        names, _ = scopes_of(entry.key)
        name = names[0] if names else ""
        stat.entries += 1
        stat.size += entry.size
        stat.scopes[name] += 1
        stat.sizes[name] += entry.size
        if entry.written_at is not None:
            when = entry.written_at
            stat.oldest = when if stat.oldest is None else min(stat.oldest, when)
            stat.newest = when if stat.newest is None else max(stat.newest, when)
        if stat.entries % BATCH == 0:
            on_progress(stat.entries)
    return stat


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a store is intact."""

    entries: int
    damaged: tuple[str, ...]
    """Keys whose values cannot be read, or do not match their digest."""
    sealed: int = 0
    """How many are encrypted and were read without keys, so that they could not be checked."""
    locked: int = 0
    """How many need a key that was not given, or are not encrypted although all should be; these
    could not be checked either."""
    why_locked: str = ""
    """What was wrong with the first of them."""


def verify_store(store: Store, *, on_progress: OnProgress = ignore_progress) -> Verdict:
    """Read everything in *store*; check packing, digests, and that keys match their originals."""
    checked = sealed = 0
    damaged: list[str] = []
    locked: list[str] = []
    for keys in _batches(entry.key for entry in managed(store).entries()):
        for key, value in _read_intact(store, keys, damaged, locked).items():
            if is_sealed(value):
                sealed += 1
            elif not _is_named_right(key, value):
                damaged.append(key)
        checked += len(keys)
        on_progress(checked)
    return Verdict(
        entries=checked,
        damaged=tuple(damaged),
        sealed=sealed,
        locked=len(locked),
        why_locked=next(iter(locked), ""),
    )


def _read_intact(
    store: Store, keys: list[str], damaged: list[str], locked: list[str]
) -> dict[str, Any]:
    """Return the readable values of *keys*; note damaged keys, and why others are locked."""
    try:
        return store.get(keys)
    except StoreError:
        values: dict[str, Any] = {}
        for key in keys:
            try:
                values.update(store.get([key]))
            except LockedError as error:
                locked.append(str(error))
            except StoreError:
                damaged.append(key)
        return values


def _is_named_right(key: str, value: Any) -> bool:
    """Return whether *value* matches its key, if that is a digest."""
    _, rest = scopes_of(key)
    name = rest.removeprefix(period_of(rest))
    return ends_in_digest(name) is None or digest(value) == name


def copy_store(
    source: Store, target: Store, *, prefix: str = "", on_progress: OnProgress = ignore_progress
) -> int:
    """Copy the entries of *source* whose keys begin with *prefix* to *target*; return how many.

    Existing entries stay as they are, so that an interrupted copy can be repeated.
    """
    done = 0
    for keys in _batches(entry.key for entry in managed(source).entries(prefix)):
        target.put(source.get(keys))
        done += len(keys)
        on_progress(done)
    return done


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield *items* in lists of at most `BATCH`."""
    rest = iter(items)
    while some := list(islice(rest, BATCH)):
        yield some


# --- exports -------------------------------------------------------------------------------------


def export_store(
    store: Store, path: Path, *, prefix: str = "", on_progress: OnProgress = ignore_progress
) -> int:
    """Write the entries of *store* whose keys begin with *prefix* to *path*; return how many.

    `.gz` and `.zst` are compressed. Only the owner can read the file.
    """
    make_private(path)
    done = 0
    with _open(path, "w") as (file, _):
        file.write(spell_json("", {"format": _FORMAT, "version": _VERSION}) + b"\n")
        for keys in _batches(entry.key for entry in managed(store).entries(prefix)):
            for key, value in store.get(keys).items():
                # Not encoded as one value, which could exceed the allowed nesting.
                name, data = spell_json(key, key), spell_json(key, value)
                file.write(b'{"key":%b,"value":%b}\n' % (name, data))
                done += 1
            on_progress(done)
        file.write(spell_json("", {"entries": done}) + b"\n")
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
        for records in _batches(_records(file, path)):
            store.put(dict(records))
            done += len(records)
            on_share(packed.tell() / size)
    return done


def _records(file: IO[bytes], path: Path) -> Iterator[tuple[str, Any]]:
    """Yield keys and values; raise `StoreError` if anything is missing."""
    head = _parse(file.readline(), path, 1)
    if head.get("format") != _FORMAT or head.get("version") != _VERSION:
        raise StoreError(f"{str(path)!r} is not an export that this version of refold knows")
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


# --- removals ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalNote:
    """An audit note about a removal."""

    action: Literal["forget", "expire"]
    stage: Literal["begun", "done"]
    at: float
    """When, in seconds since 1970."""
    tenant: str = ""
    """The digest of the name; see `name_digest`."""
    conversation: str = ""
    before: float | None = None
    entries: int = 0
    size: int = 0
    reason: str = ""


def name_digest(name: str | None) -> str:
    """Return the digest by which a note names a conversation or a tenant."""
    return "" if name is None else text_digest(name)


def forget(
    store: Store,
    conversation: str | None = None,
    *,
    tenant: str | None = None,
    reason: str = "",
    clock: Callable[[], float] = time.time,
) -> Removed:
    """Remove all originals of a conversation, of one in a tenant's scope, or of a whole tenant.

    Its stand-ins can then no longer be unfolded. Give conversations names: the originals of those
    without a name cannot be told apart.
    """
    if conversation is None and tenant is None:
        raise ConfigError("forget() needs the name of a conversation, of a tenant, or both")
    names = {"tenant": tenant, "conversation": conversation}
    return _remove(store, "forget", **names, before=None, reason=reason, clock=clock)


def expire(
    store: Store,
    *,
    older_than_seconds: float,
    tenant: str | None = None,
    conversation: str | None = None,
    reason: str = "",
    clock: Callable[[], float] = time.time,
) -> Removed:
    """Remove originals that were first stored longer ago, of everybody or of a tenant."""
    check_number("older_than_seconds", older_than_seconds)
    before = clock() - older_than_seconds
    names = {"tenant": tenant, "conversation": conversation}
    return _remove(store, "expire", **names, before=before, reason=reason, clock=clock)


def _remove(
    store: Store,
    action: Literal["forget", "expire"],
    *,
    tenant: str | None,
    conversation: str | None,
    before: float | None,
    reason: str,
    clock: Callable[[], float],
) -> Removed:
    """Remove what belongs to a tenant and a conversation, between two notes about that."""
    for kind, name in (("tenant", tenant), ("conversation", conversation)):
        if name is not None:
            check_name(kind, name)
    place = managed(store)
    outer = "" if tenant is None else scope_prefix(tenant)
    inner = "" if conversation is None else scope_prefix(conversation)
    starts = [outer + inner]
    if outer and inner:
        # If the originals of a tenant expire, the time is between the two names.
        rests = (entry.key.removeprefix(outer) for entry in place.entries(outer))
        starts = [outer + period + inner for period in sorted({"", *map(period_of, rests)})]

    number = f"{AUDIT_PREFIX}{math.floor(clock() * 1e6):020}:{secrets.token_hex(8)}"
    about: dict[str, Any] = {
        "action": action,
        "tenant": name_digest(tenant),
        "conversation": name_digest(conversation),
        "before": before,
        "reason": reason,
    }
    store.put({f"{number}:1": asdict(RemovalNote(stage="begun", at=clock(), **about))})
    removed = Removed.total(place.remove(start, before=before) for start in starts)
    note = RemovalNote(stage="done", at=clock(), **removed._asdict(), **about)
    store.put({f"{number}:2": asdict(note)})
    return removed


def read_audit(store: Store) -> list[RemovalNote]:
    """Return the notes of all removals, the oldest first."""
    keys = sorted(entry.key for entry in managed(store).entries(AUDIT_PREFIX))
    try:
        return [RemovalNote(**value) for value in store.get(keys).values()]
    except TypeError as error:
        raise StoreError(f"a note of a removal is not readable ({error})") from error
