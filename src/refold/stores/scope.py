"""Scopes within a store: each conversation, thread or agent sees only its own originals.

Handles are derived from content, so the same text has the same handle everywhere. With a scope, a
handle finds something only where it was given out. `conversation="…"` makes a scope for a
conversation; a `ScopedStore` of your own makes a wider one, for a tenant or an agent.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from refold.checks import check_name, check_positive
from refold.lazy import regex
from refold.stores.base import Entry, Removed, Store, WrappedStore, check_store, managed

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
    while (head := _SCOPE(key)) is not None:
        end = head.end() + int(head[1])
        if key[end : end + 1] != ":":
            break
        names.append(key[head.end() : end])
        key = key[end + 1 :]
    return names, key


def period_of(rest: str) -> str:
    """Return the period at the beginning of the rest of a key, if its originals expire."""
    period = _PERIOD(rest)
    return period[0] if period else ""


def scoped(store: Store, conversation: str | None) -> Store:
    """Return the scope of *store* for a named conversation; the whole store without a name."""
    check_store(store)
    if conversation is None:
        return store
    check_name("conversation", conversation)
    return ScopedStore(store, conversation)


class ScopedStore(WrappedStore):
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
        super().__init__(store)
        check_name("scope", scope)
        if ttl_seconds is not None:
            check_positive("ttl_seconds", ttl_seconds)
        self.scope = scope
        self._period = None if ttl_seconds is None else ttl_seconds / _PERIODS
        self._clock = clock

    def _inward(self, entries: Mapping[str, Any]) -> dict[str, Any]:
        place = self._places()[0]
        return {place + key: value for key, value in entries.items()}

    def _inner_keys(self, keys: Sequence[str]) -> Sequence[str]:
        return [place + key for place in self._places() for key in keys]

    def _outward(self, wanted: Sequence[str], values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value of each key from the latest period that has it."""
        places = self._places()
        places_of = {key: [p for p in places if p + key in values] for key in wanted}
        return {key: values[held[0] + key] for key, held in places_of.items() if held}

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

    def _written(self) -> list[str]:
        """Return all prefixes that keys in this scope were written with."""
        name = scope_prefix(self.scope)
        if self._period is None:
            return [name]
        keys = (entry.key.removeprefix(name) for entry in managed(self._store).entries(name))
        return sorted({f"{name}{key.partition(':')[0]}:" for key in keys})

    def __repr__(self) -> str:
        return f"ScopedStore({self._store!r}, {self.scope!r})"
