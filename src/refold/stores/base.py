"""The store protocol, the checks that all stores share, and the frame of those that wrap others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, Self, runtime_checkable

from refold.errors import ConfigError, StoreError

AUDIT_PREFIX: Final = "refold:audit:"
"""The prefix of the keys of audit notes; see `upkeep`."""


@runtime_checkable
class Store(Protocol):
    """Keeps JSON-like values under content-derived keys.

    A key is derived from its value, so writing it twice is harmless and nothing is ever
    overwritten. Values are copied on the way in and out. A store may be used from any thread. All
    its errors are `StoreError`.
    """

    def put(self, entries: Mapping[str, Any]) -> None:
        """Store all entries, or none if it raises; an existing key keeps its value."""
        ...

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of *keys*; unknown keys are left out."""
        ...


class Entry(NamedTuple):
    """What a store knows about an original without reading it."""

    key: str
    size: int
    """Its size in bytes, including the key; 0 in a store that does not keep bytes."""
    written_at: float | None
    """When it was stored, in seconds since 1970; `None` if that is not recorded."""


class Removed(NamedTuple):
    """How much was removed from a store."""

    entries: int
    size: int

    @classmethod
    def total(cls, parts: Iterable[Removed]) -> Removed:
        """Return the sum of *parts*."""
        entries = size = 0
        for part in parts:
            entries, size = entries + part.entries, size + part.size
        return cls(entries, size)


@runtime_checkable
class ManagedStore(Store, Protocol):
    """A store that can also list and remove its entries; all stores of refold can."""

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        """Yield the entries whose keys begin with *prefix*, in any order.

        A *prefix* may name scopes, but must not end inside of a digest.
        """
        ...

    def remove(self, prefix: str = "", *, before: float | None = None) -> Removed:
        """Remove the entries whose keys begin with *prefix*, if they were stored before a time.

        Audit notes of earlier removals stay, unless *prefix* is their own.
        """
        ...


class OpenStore(ManagedStore, Protocol):
    """A store that holds a file or connections open: `with` closes it.

    It is true even when it is empty, or `store or MemoryStore()` would drop it.
    """

    def close(self) -> None:
        """Close the file or connection."""

    def shrink(self) -> None:
        """Give back the disk space of what was removed, where the store does not do so itself."""
        return

    def __len__(self) -> int: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __bool__(self) -> bool:
        return True


async def aput(store: Store, entries: Mapping[str, Any]) -> None:
    """Put without blocking the event loop: with the store's own `aput`, or in a thread."""
    import asyncio  # here and below: it takes long to load, and most never need it

    native = getattr(store, "aput", None)
    await (native(entries) if native is not None else asyncio.to_thread(store.put, entries))


async def aget(store: Store, keys: Iterable[str]) -> dict[str, Any]:
    """Get without blocking the event loop: with the store's own `aget`, or in a thread."""
    import asyncio

    native = getattr(store, "aget", None)
    values: dict[str, Any]
    values = await (native(keys) if native is not None else asyncio.to_thread(store.get, keys))
    return values


class WrappedStore:
    """A store around another: what goes in and what comes out changes on the way."""

    def __init__(self, store: Store) -> None:
        check_store(store)
        self._store = store

    def put(self, entries: Mapping[str, Any]) -> None:
        """Store all entries, or none if it raises; an existing key keeps its value."""
        self._store.put(self._inward(check_entries(entries)))

    async def aput(self, entries: Mapping[str, Any]) -> None:
        """Do what `put` does, without blocking the event loop."""
        await aput(self._store, self._inward(check_entries(entries)))

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of *keys*; unknown keys are left out."""
        wanted = check_keys(keys)
        return self._outward(wanted, self._store.get(self._inner_keys(wanted)))

    async def aget(self, keys: Iterable[str]) -> dict[str, Any]:
        """Do what `get` does, without blocking the event loop."""
        wanted = check_keys(keys)
        return self._outward(wanted, await aget(self._store, self._inner_keys(wanted)))

    def _inward(self, entries: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the inner store gets."""
        raise NotImplementedError

    def _inner_keys(self, keys: Sequence[str]) -> Sequence[str]:
        """Return the keys that the inner store is asked for."""
        return keys

    def _outward(self, wanted: Sequence[str], values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of *wanted* keys from what the inner store has."""
        raise NotImplementedError


def managed(store: Store) -> ManagedStore:
    """Return *store* if it can list its entries, or raise `StoreError`."""
    if not isinstance(store, ManagedStore):
        raise StoreError(
            f"{type(store).__name__} cannot list its entries: it has no entries() and remove()"
        )
    return store


def check_store(store: object) -> None:
    """Raise `ConfigError` unless *store* is a store."""
    if not isinstance(store, Store):
        raise ConfigError(
            "store must have put() and get(), such as SqliteStore('originals.db'); "
            f"got {type(store).__name__}"
        )


def store_error(doing: str, store: object, why: str) -> StoreError:
    """Return an error that says what cannot be done with which store, and why."""
    return StoreError(f"cannot {doing} the store {str(store)!r}: {why}")


def check_entries(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of *entries*, or say which key is not a string."""
    if not isinstance(entries, Mapping):
        raise StoreError(f"put() takes a mapping of key to value, got {type(entries).__name__}")
    return {_check_key(key): value for key, value in entries.items()}


def check_keys(keys: Iterable[str]) -> list[str]:
    """Return *keys* without repeats; refuse a single string, whose letters would be the keys."""
    if isinstance(keys, str | bytes) or not isinstance(keys, Iterable):
        raise StoreError(f"get() takes several keys, got {keys!r}; write get([key]) for one")
    return list(dict.fromkeys(_check_key(key) for key in keys))


def _check_key(key: object) -> str:
    if not isinstance(key, str):
        raise StoreError(f"a key must be a string, got {key!r}")
    return key


def is_removable(entry: Entry, prefix: str, before: float | None) -> bool:
    """Return whether `remove` takes *entry*: audit notes are removed only under their own prefix.

    Without a time it is not older than anything.
    """
    if not entry.key.startswith(prefix):
        return False
    if entry.key.startswith(AUDIT_PREFIX) and not prefix.startswith(AUDIT_PREFIX):
        return False
    return before is None or (entry.written_at is not None and entry.written_at < before)
