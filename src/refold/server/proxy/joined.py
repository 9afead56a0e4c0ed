"""A store that writes what one request puts all at once: a disk is waited for once, not twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from refold.model.wire import clone
from refold.stores.base import Store

_MOST_KNOWN: Final = 100_000
"""Keys that are remembered as written; beyond that, all are forgotten."""


class JoinedStore:
    """Lets several puts become one; for one thread, as a worker has.

    What this process has put is not put again: a view is put with every request, and only its end
    is new.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: dict[str, Any] | None = None
        self._known: set[str] = set()

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Write at the end what is put within; nothing of it if something is raised before."""
        self._pending = {}
        try:
            yield
            entries = self._pending
        finally:
            self._pending = None
        if entries:
            self._write(entries)

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep every entry, now or at the end; a key that is already there keeps its value."""
        new = {key: value for key, value in entries.items() if key not in self._known}
        if self._pending is None:
            if new:
                self._write(new)
            return
        for key, value in new.items():
            self._pending.setdefault(key, clone(value))

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known of *keys*, written or about to be."""
        wanted = list(keys)
        found = self._store.get(wanted)
        pending = self._pending or {}
        own = {key: clone(pending[key]) for key in wanted if key in pending and key not in found}
        return {**found, **own}

    def _write(self, entries: Mapping[str, Any]) -> None:
        self._store.put(entries)
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()
        self._known.update(entries)
