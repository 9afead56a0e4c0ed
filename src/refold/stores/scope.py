"""Scopes within a store: each conversation, thread or agent sees only its own originals.

Handles are derived from content, so the same text has the same handle everywhere. With a scope, a
handle finds something only where it was given out. `conversation="…"` makes a scope for a
conversation; a `ScopedStore` of your own makes a wider one, for a tenant or an agent.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from refold.checks import check_name, check_positive
from refold.lazy import regex
from refold.stores.base import (
    Entry,
    Removed,
    Store,
    aget,
    aput,
    check_entries,
    check_keys,
    check_store,
    managed,
)

_PERIODS: Final = 8
"""The number of parts of a lifetime: an original may live one part longer."""
_SCOPE: Final = regex(r"scope:([0-9]{1,9}):").match
_PERIOD: Final = regex(r"[0-9]+:").match


def scope_prefix(name: str) -> str:
    """Return the prefix of the keys in the scope *name*; its length keeps `a:b` and `a` apart."""
    return f"scope:{len(name)}:{name}:"


def scopes_of(key: str) -> tuple[list[str], str]:
    """Return the names of the scopes that *key* is in, the widest first, and the rest of it."""
    names = []
    while (found := _SCOPE(key)) is not None:
        end = found.end() + int(found[1])
        if key[end : end + 1] != ":":
            break
        names.append(key[found.end() : end])
        key = key[end + 1 :]
    return names, key


def period_of(rest: str) -> str:
    """Return the period at the beginning of the rest of a key, if its originals expire."""
    found = _PERIOD(rest)
    return found[0] if found else ""


def scoped(store: Store, conversation: str | None) -> Store:
    """Return the scope of *store* for a named conversation; the whole store without a name."""
    check_store(store)
    if conversation is None:
        return store
    check_name("conversation", conversation)
    return ScopedStore(store, conversation)


class ScopedStore:
    """A part of *store* named *scope*; give it wherever a store is taken.

    With *ttl_seconds* an original is found for that long after it was last put, and at most an
    eighth longer. Expired originals are no longer found, but only *store* itself can free their
    space: a `SqliteStore` does so if it has a `ttl_seconds` of its own.
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
        """Store all entries in this scope, or none if it raises."""
        self._store.put(self._scoped(entries))

    async def aput(self, entries: Mapping[str, Any]) -> None:
        """Do what `put` does, without blocking the event loop."""
        await aput(self._store, self._scoped(entries))

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of *keys* in this scope."""
        wanted, places = check_keys(keys), self._places()
        found = self._store.get(place + key for place in places for key in wanted)
        return _first_of(wanted, places, found)

    async def aget(self, keys: Iterable[str]) -> dict[str, Any]:
        """Do what `get` does, without blocking the event loop."""
        wanted, places = check_keys(keys), self._places()
        found = await aget(self._store, [place + key for place in places for key in wanted])
        return _first_of(wanted, places, found)

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        """Yield the entries of this scope, expired or not."""
        for place in self._written():
            for entry in managed(self._store).entries(place + prefix):
                yield entry._replace(key=entry.key.removeprefix(place))

    def remove(self, prefix: str = "", *, before: float | None = None) -> Removed:
        """Remove the entries of this scope, expired or not, whose keys begin with *prefix*."""
        store = managed(self._store)
        return Removed.total(
            store.remove(place + prefix, before=before) for place in self._written()
        )

    def _scoped(self, entries: Mapping[str, Any]) -> dict[str, Any]:
        place = self._places()[0]
        return {place + key: value for key, value in check_entries(entries).items()}

    def _places(self) -> list[str]:
        """Return the prefixes of keys in this scope, beginning with the one to write to now.

        A store never writes a key twice, so a later put needs another key to extend the lifetime:
        the time is part of the prefix.
        """
        name = scope_prefix(self.scope)
        if self._period is None:
            return [name]
        now = math.floor(self._clock() / self._period)
        return [f"{name}{now - age}:" for age in range(_PERIODS + 1)]

    def _written(self) -> list[str]:
        """Return all prefixes that keys in this scope were written with."""
        name = scope_prefix(self.scope)
        if self._period is None:
            return [name]
        keys = (entry.key.removeprefix(name) for entry in managed(self._store).entries(name))
        return sorted({f"{name}{key.partition(':')[0]}:" for key in keys})

    def __repr__(self) -> str:
        return f"ScopedStore({self._store!r}, {self.scope!r})"


def _first_of(
    wanted: Iterable[str], places: Iterable[str], found: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the value of each key from the first place that has it."""
    answer = {}
    for key in wanted:
        name = next((place + key for place in places if place + key in found), None)
        if name is not None:
            answer[key] = found[name]
    return answer
