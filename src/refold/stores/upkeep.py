"""Maintenance of a store: statistics, verification, copies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from itertools import islice
from typing import Any, Final, TypeVar

from refold.errors import StoreError
from refold.messages.wire import digest
from refold.stores.base import AUDIT_PREFIX, Store, is_digest, managed
from refold.stores.encrypted import LockedError, is_sealed
from refold.stores.scope import period_of, scopes_of

T = TypeVar("T")

OnProgress = Callable[[float], None]
"""Called with the number of originals done, or with their share."""

BATCH: Final = 500
"""How many originals are in memory at a time."""


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
    for keys in batches(entry.key for entry in managed(store).entries()):
        found = _read_intact(store, keys, damaged, locked)
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
    source: Store, target: Store, *, prefix: str = "", on_progress: OnProgress = ignore_progress
) -> int:
    """Copy the entries of *source* whose keys begin with *prefix* to *target*; return how many.

    Existing entries stay as they are, so that an interrupted copy can be repeated.
    """
    done = 0
    for keys in batches(entry.key for entry in managed(source).entries(prefix)):
        target.put(source.get(keys))
        done += len(keys)
        on_progress(done)
    return done


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield *items* in lists of at most `BATCH`."""
    rest = iter(items)
    while some := list(islice(rest, BATCH)):
        yield some


def _read_intact(
    store: Store, keys: list[str], damaged: list[str], locked: list[str]
) -> dict[str, Any]:
    """Return the readable values of *keys*; note damaged keys, and why others are locked."""
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
    """Return whether *value* matches its key, if that is a digest."""
    _, rest = scopes_of(key)
    name = rest.removeprefix(period_of(rest))
    return not is_digest(name) or digest(value) == name
