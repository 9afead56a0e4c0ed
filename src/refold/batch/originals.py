"""Where the originals of a batch go when they do not stay with their records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from refold.errors import NestingError, StoreError
from refold.stores import Store
from refold.stores.codec import MAX_DEPTH
from refold.stores.encrypted import is_sealed
from refold.stores.opening import KEYS, open_store

_BUFFERED_CHARS: Final = 4_000_000
"""About how much is put at once. A put to a database is a transaction with a write to the disk,
which for a single record takes longer than folding it; and what is not put yet takes memory."""
_ENTRY_CHARS: Final = 100
"""What an entry counts for beside its texts."""


@contextmanager
def open_originals(
    address: str | None, keys: Sequence[bytes] = (), *, read_only: bool = False
) -> Iterator[BufferedStore | None]:
    """Open the store at *address*; what the body puts is there when it ends without an error."""
    if address is None:
        yield None
        return
    with open_store(address, keys=keys, read_only=read_only) as store:
        buffered = BufferedStore(store)
        yield buffered
        buffered.flush()


class BufferedStore:
    """Puts many entries at once into *store*; what still waits is found here."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[str, Any] = {}
        self._chars = 0

    def put(self, entries: Mapping[str, Any]) -> None:
        """Keep every entry until there are enough of them; a known key keeps its value."""
        # Now, while it is known whose they are: later they would stop everything else.
        sizes = [_measure(key, value) for key, value in entries.items()]
        for key, value in entries.items():
            self._waiting.setdefault(key, value)
        self._chars += sum(sizes)
        if self._chars > _BUFFERED_CHARS:
            self.flush()

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return what is known of *keys*."""
        wanted = list(keys)
        unknown = [key for key in wanted if key not in self._waiting]
        found = self._store.get(unknown) if unknown else {}
        for key, value in found.items():
            if is_sealed(value):
                raise StoreError(
                    f"the value of {key!r} in {self._store!r} is encrypted: give its key in {KEYS}"
                )
        # What is in the store was there first.
        return {
            key: found[key] if key in found else self._waiting[key]
            for key in wanted
            if key in found or key in self._waiting
        }

    def flush(self) -> None:
        """Put what waits; it is in the store when this returns."""
        if self._waiting:
            self._store.put(self._waiting)
        self._waiting, self._chars = {}, 0


def _measure(key: str, value: Any) -> int:
    """Return about how many characters an entry has; refuse what is too deep for a store."""
    chars, level = _ENTRY_CHARS, [value]
    for _ in range(MAX_DEPTH + 1):
        chars += sum(len(item) for item in level if type(item) is str)
        level = [child for item in level for child in _children(item)]
        if not level:
            return chars
    raise NestingError(f"the value of {key!r} is nested more than {MAX_DEPTH} levels deep")


def _children(value: Any) -> Iterable[Any]:
    if type(value) is dict:
        return value.values()
    return value if type(value) is list else ()
