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
from refold.stores.codec import spell_json
from refold.stores.encrypted import is_sealed
from refold.stores.opening import KEYS, is_bucket, open_store

T = TypeVar("T")

_SLOWEST: Final = 5
"""How many of the slowest records a report has."""
_BUFFERED_BYTES: Final = 4_000_000
"""How much is put at once. A put to a database is a transaction with a disk write, which takes
longer than folding a single record; larger buffers take more memory."""


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
        scope = None
        if job.store is not None and is_bucket(job.store):
            # A bucket must read a whole scope to find anything, which would be too much for a whole
            # batch. In other stores, shards share what they have in common.
            scope = text_digest(f"{shard.source}:{shard.start}:{shard.stop}")
        self.folder = RecordFolder(
            replace(job.options, trace=True),
            # In a table the key is a column, whose content is recognized by itself.
            key=job.key if shard.kind in ("jsonl", "jsonl.zst") else None,
            store=store,
            scope=scope,
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
        self._bytes = 0

    def put(self, entries: Mapping[str, Any]) -> None:
        """Collect *entries*; an existing key keeps its value."""
        # Spelled now, while the record is known: an error in flush would stop the whole shard.
        self._bytes += sum(len(spell_json(key, value)) for key, value in entries.items())
        for key, value in entries.items():
            self._waiting.setdefault(key, value)
        if self._bytes > _BUFFERED_BYTES:
            self.flush()

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """Return the values of *keys*; unknown keys are left out."""
        wanted = list(keys)
        unknown = [key for key in wanted if key not in self._waiting]
        values = self._store.get(unknown) if unknown else {}
        for key, value in values.items():
            if is_sealed(value):
                raise StoreError(
                    f"the value of {key!r} in {self._store!r} is encrypted: give its key in {KEYS}"
                )
        values |= {key: self._waiting[key] for key in wanted if key in self._waiting}
        return {key: values[key] for key in wanted if key in values}

    def flush(self) -> None:
        """Put everything collected so far into the store."""
        if self._waiting:
            self._store.put(self._waiting)
        self._waiting, self._bytes = {}, 0
