"""The asynchronous face of a store, shown as a synchronous one, so that one contract tests both."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from refold.stores.base import Entry, ManagedStore, Removed, aget, aput


class Awaited:
    """Puts and gets through `aput` and `aget`, in an event loop of its own."""

    def __init__(self, store: ManagedStore) -> None:
        self.store = store
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def put(self, entries: Mapping[str, Any]) -> None:
        asyncio.run_coroutine_threadsafe(aput(self.store, entries), self._loop).result()

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        return asyncio.run_coroutine_threadsafe(aget(self.store, keys), self._loop).result()

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        return self.store.entries(prefix)

    def remove(self, prefix: str = "", *, before: float | None = None) -> Removed:
        return self.store.remove(prefix, before=before)

    def __len__(self) -> int:
        return len(self.store)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return bool(self.store)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
