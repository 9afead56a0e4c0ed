"""A store with walls: each conversation, thread or agent sees its own originals only.

Handles follow from content, so the same text has the same handle everywhere. A scope sees to it
that a handle finds something only where it was given out. `conversation="…"` puts one around the
store of a conversation; a `ScopedStore` of your own draws a wider one, around a tenant or an agent.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from refold.checks import check_name, check_positive
from refold.stores.base import Store, check_store
from refold.stores.key import check_entries, check_keys

_PERIODS: Final = 8
"""Into how many parts a lifetime is cut: an original may live so much of it longer."""


class ScopedStore:
    """A part of *store* named *scope*; give it wherever a store is taken.

    With *ttl_seconds* an original is found for at least so long after it was last put, and at most
    an eighth longer. What is expired is not found any more, but only *store* itself can give back
    its room: a `SqliteStore` does, if it has a `ttl_seconds` of its own.
    """

    def __init__(
        self,
        store: Store,
        scope: str,
        *,
        ttl_seconds: float | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_store(store)
        check_name("scope", scope)
        if ttl_seconds is not None:
            check_positive("ttl_seconds", ttl_seconds)
        self.scope = scope
        self._store = store
        self._period = None if ttl_seconds is None else ttl_seconds / _PERIODS
        self._clock = clock

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep every entry in this scope, or none if it raises."""
        place = self._places()[0]
        self._store.put({place + key: value for key, value in check_entries(entries).items()})

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known of *keys* in this scope."""
        wanted = check_keys(keys)
        found: dict[str, Any] = {}
        for place in self._places():
            missing = [key for key in wanted if key not in found]
            if not missing:
                break
            kept = self._store.get([place + key for key in missing])
            found.update((name.removeprefix(place), value) for name, value in kept.items())
        return {key: found[key] for key in wanted if key in found}

    def _places(self) -> list[str]:
        """Return how keys begin in this scope, that of what is written now first.

        A store never writes a key twice, so what is put again later needs another key to live on:
        the time is part of it. The length of the scope's name keeps `a:b` apart from `a` and `b`.
        """
        name = f"scope:{len(self.scope)}:{self.scope}:"
        if self._period is None:
            return [name]
        now = math.floor(self._clock() / self._period)
        return [f"{name}{now - age}:" for age in range(_PERIODS + 1)]

    def __repr__(self) -> str:
        return f"ScopedStore({self._store!r}, {self.scope!r})"
