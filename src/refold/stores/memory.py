"""A store that lives and dies with the process."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Self

from refold.errors import StoreError
from refold.stores.base import Entry, Removed, check_entries, check_keys, is_removable

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


class MemoryStore:
    """Keeps originals in a dict; takes any Python value that can be copied.

    Values are copied on the way in and out, so changing them does not change the originals.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, Any] = {}

    def put(self, entries: Mapping[str, Any]) -> None:
        """Store all entries, or none if one cannot be copied; an existing key keeps its value."""
        # Copying runs foreign code (`__deepcopy__`), so it happens outside the lock.
        copies = {key: _copy(key, value) for key, value in check_entries(entries).items()}
        with self._lock:
            for key, value in copies.items():
                self._values.setdefault(key, value)

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return copies of the values of *keys*; unknown keys are left out."""
        wanted = check_keys(keys)
        with self._lock:
            values = {key: self._values[key] for key in wanted if key in self._values}
        # A stored value is never changed, so it can be copied after the lock is released.
        return {key: _copy(key, value) for key, value in values.items()}

    def entries(self, prefix: str = "") -> Iterator[Entry]:
        """Yield the entries whose keys begin with *prefix*; sizes and times are not recorded."""
        with self._lock:
            keys = [key for key in self._values if key.startswith(prefix)]
        yield from (Entry(key, 0, None) for key in keys)

    def remove(self, prefix: str = "", *, before: float | None = None) -> Removed:
        """Remove the entries whose keys begin with *prefix*; none with *before*: no times."""
        with self._lock:
            entries = (Entry(key, 0, None) for key in self._values)
            gone = [entry.key for entry in entries if is_removable(entry, prefix, before)]
            for key in gone:
                del self._values[key]
        return Removed(len(gone), 0)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle the originals without the lock."""
        with self._lock:
            state = {**self.__dict__, "_values": dict(self._values)}
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Copy the store; both share the values, which never change or leave the store."""
        return copy.copy(self)

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        # Without this an empty store would be false, and `store or MemoryStore()` would drop it.
        return True

    def __repr__(self) -> str:
        return f"MemoryStore(entries={len(self)})"


def _copy(key: str, value: Any) -> Any:
    """Deep-copy *value*; errors name the *key*."""
    try:
        return _deep_copy(value)
    except Exception as error:  # a foreign `__deepcopy__` may raise anything
        raise StoreError(
            f"the value of {key!r} cannot be copied ({type(error).__name__}: {error}); "
            "take out the object that refuses copy.deepcopy()"
        ) from error


def _deep_copy(root: Any) -> Any:
    """Do what `copy.deepcopy` does, without recursion through lists and dicts.

    So deep nesting does not overflow the stack, and JSON-like values are copied faster. The memo is
    shared with `copy.deepcopy`, so objects that occur twice stay shared.
    """
    memo: dict[int, Any] = {}
    pending: list[tuple[Any, Any]] = []

    def enter(value: Any) -> Any:
        kind = type(value)
        if kind in _SCALARS:
            return value
        if kind is not list and kind is not dict:
            return copy.deepcopy(value, memo)
        if id(value) not in memo:
            memo[id(value)] = kind()
            pending.append((value, memo[id(value)]))
        return memo[id(value)]

    result = enter(root)
    while pending:
        source, target = pending.pop()
        if type(source) is list:
            target.extend(map(enter, source))
        else:
            target.update((enter(name), enter(value)) for name, value in source.items())
    return result
