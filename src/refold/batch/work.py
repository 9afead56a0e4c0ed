"""The work on a shard: how to change a record, the figures so far, and the buffered store."""

from __future__ import annotations

import base64
import heapq
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any, Final, TypeVar

from refold.batch.job import Figures, Job, Shard
from refold.batch.record import RecordFolder
from refold.errors import BatchError, NestingError, RecordError, StoreError, describe
from refold.messages.wire import text_digest
from refold.result import Result
from refold.stores import Store
from refold.stores.codec import MAX_DEPTH
from refold.stores.encrypted import is_sealed
from refold.stores.opening import KEYS, is_bucket, open_store

T = TypeVar("T")

_SLOWEST: Final = 5
"""How many of the slowest records a report has."""


class Work:
    """The state of the work on a shard."""

    def __init__(
        self,
        job: Job,
        shard: Shard,
        store: BufferedStore | None,
        rejects: IO[str],
        trouble: str = "",
    ) -> None:
        self.job = job
        self.store = store
        self.folder = RecordFolder(
            replace(job.options, trace=True),
            # In a table the key is a column, whose content is recognized by itself.
            key=job.key if shard.kind in ("jsonl", "jsonl.zst") else None,
            store=store,
            scope=_scope_of(job, shard),
        )
        self.lines = 0
        """Lines or rows so far."""
        self.figures = Figures()
        self.kinds: dict[str, list[int]] = {}
        self.errors: dict[str, int] = {}
        """The number of records set aside, by error."""
        self.slowest: list[tuple[float, int]] = []
        self._rejects = rejects
        self._trouble = trouble
        """Why no record of this shard is tried."""

    def attempt(self, line: int, raw: str | bytes, change: Callable[[str], T]) -> T | None:
        """Change one record; one that fails is set aside with the reason."""
        began = time.perf_counter()
        if self._trouble:
            self._reject(line, raw, BatchError(self._trouble))
            return None
        try:
            text = raw.decode() if isinstance(raw, bytes) else raw
            changed = change(text)
        except (MemoryError, OSError):
            raise  # a problem of the machine, not of the record
        except Exception as error:  # a bad record must not stop the others
            if isinstance(error, StoreError) and not isinstance(error, RecordError | NestingError):
                raise  # a problem of the store
            self._reject(line, raw, error)
            return None
        self.figures.records += 1
        self.figures.bytes_in += len(raw if isinstance(raw, bytes) else raw.encode())
        heapq.heappush(self.slowest, (time.perf_counter() - began, line))
        if len(self.slowest) > _SLOWEST:
            heapq.heappop(self.slowest)
        return changed

    def count(self, result: Result) -> None:
        """Add the figures of one fold."""
        self.figures.tokens_before += result.tokens_before
        self.figures.tokens_after += result.tokens_after
        self.figures.over_budget += result.fits is False
        for entry in result.decisions:
            sums = self.kinds.setdefault(entry.action, [0, 0, 0])
            sums[0] += 1
            sums[1] += entry.input_chars
            sums[2] += entry.output_chars

    def _reject(self, line: int, raw: object, error: Exception) -> None:
        self.figures.rejected += 1
        name = type(error).__name__
        self.errors[name] = self.errors.get(name, 0) + 1
        note: dict[str, object] = {"line": line, "reason": describe(error)}
        if isinstance(raw, bytes):
            try:
                note["record"] = raw.decode()
            except UnicodeDecodeError:
                note["record_base64"] = base64.b64encode(raw).decode()
        else:
            note["record"] = raw
        self._rejects.write(json.dumps(note) + "\n")


def _scope_of(job: Job, shard: Shard) -> str | None:
    """Return the scope of a shard within the store, if it needs one of its own.

    A bucket must read a whole scope to find anything, which would be too much for a whole batch.
    In other stores, shards share what they have in common.
    """
    if job.store is None or not is_bucket(job.store):
        return None
    return text_digest(f"{shard.source}:{shard.start}:{shard.stop}")


_BUFFERED_CHARS: Final = 4_000_000
"""About how much is put at once. A put to a database is a transaction with a disk write, which
takes longer than folding a single record; larger buffers take more memory."""
_ENTRY_CHARS: Final = 100
"""The cost of an entry besides its texts."""


@contextmanager
def open_originals(
    address: str | None, keys: Sequence[bytes] = (), *, read_only: bool = False
) -> Iterator[BufferedStore | None]:
    """Open the store at *address*; what the body puts is stored when it ends without an error."""
    if address is None:
        yield None
        return
    with open_store(address, keys=keys, read_only=read_only) as store:
        buffered = BufferedStore(store)
        yield buffered
        buffered.flush()


class BufferedStore:
    """Collects entries to put many of them into *store* at once; finds those that still wait."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[str, Any] = {}
        self._chars = 0

    def put(self, entries: Mapping[str, Any]) -> None:
        """Collect *entries*; an existing key keeps its value."""
        # Checked now, while the record is known: an error in flush would stop the whole shard.
        sizes = [_measure(key, value) for key, value in entries.items()]
        for key, value in entries.items():
            self._waiting.setdefault(key, value)
        self._chars += sum(sizes)
        if self._chars > _BUFFERED_CHARS:
            self.flush()

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of *keys*; unknown keys are left out."""
        wanted = list(keys)
        unknown = [key for key in wanted if key not in self._waiting]
        found = self._store.get(unknown) if unknown else {}
        for key, value in found.items():
            if is_sealed(value):
                raise StoreError(
                    f"the value of {key!r} in {self._store!r} is encrypted: give its key in {KEYS}"
                )
        # Values in the store are older, so they win.
        return {
            key: found[key] if key in found else self._waiting[key]
            for key in wanted
            if key in found or key in self._waiting
        }

    def flush(self) -> None:
        """Put everything collected so far into the store."""
        if self._waiting:
            self._store.put(self._waiting)
        self._waiting, self._chars = {}, 0


def _measure(key: str, value: Any) -> int:
    """Return the approximate size of an entry; raise `NestingError` if it is nested too deeply."""
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
