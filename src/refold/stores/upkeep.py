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
"""Called with how many originals are done, or with the share of them."""

BATCH: Final = 500
"""How many originals are in memory at a time."""


def ignore_progress(done: float) -> None:
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
        # Not `asdict`, which takes a Counter for a dict that is made of pairs.
        return {one.name: getattr(self, one.name) for one in fields(self)}


def stat_store(store: Store, *, on_progress: OnProgress = ignore_progress) -> StoreStat:
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
        if stat.entries % BATCH == 0:
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


def verify_store(store: Store, *, on_progress: OnProgress = ignore_progress) -> Verdict:
    """Read everything in *store*: packing, digests, and that originals are what they are named."""
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
    """Put into *target* what *source* has under keys that begin with *prefix*; return how much.

    What *target* has already stays as it is, so that this may be done again if it was broken off.
    """
    done = 0
    for keys in batches(entry.key for entry in managed(source).entries(prefix)):
        target.put(source.get(keys))
        done += len(keys)
        on_progress(done)
    return done


def batches(items: Iterable[T]) -> Iterator[list[T]]:
    """Yield *items*, some at a time."""
    rest = iter(items)
    while some := list(islice(rest, BATCH)):
        yield some


def _read_intact(
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
