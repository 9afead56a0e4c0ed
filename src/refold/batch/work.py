"""What is known while a shard is worked on: how to change a record, and the figures so far."""

from __future__ import annotations

import base64
import heapq
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import IO, Final, TypeVar

from refold.batch.job import Figures, Job, Shard
from refold.batch.originals import BufferedStore
from refold.batch.record import RecordFolder, digest_of
from refold.errors import NestingError, RecordError, StoreError, describe
from refold.result import Result
from refold.stores.opening import is_bucket

T = TypeVar("T")

_SLOWEST: Final = 5
"""How many of the slowest records a report names."""


class Work:
    """What is known while a shard is worked on."""

    def __init__(
        self, job: Job, shard: Shard, store: BufferedStore | None, rejects: IO[str]
    ) -> None:
        self.job = job
        self.store = store
        self.folder = RecordFolder(
            replace(job.options, trace=True),
            # In a table the name is that of a column; what is in it says what it is itself.
            key=job.key if shard.kind in ("jsonl", "jsonl.zst") else None,
            token_share=job.token_share,
            store=store,
            scope=_scope_of(job, shard),
        )
        self.lines = 0
        """Lines or rows so far."""
        self.figures = Figures()
        self.kinds: dict[str, list[int]] = {}
        self.errors: dict[str, int] = {}
        """How many records were set aside for which error."""
        self.slowest: list[tuple[float, int]] = []
        self._rejects = rejects

    def attempt(self, line: int, raw: str | bytes, change: Callable[[str], T]) -> T | None:
        """Change one record; one that cannot be changed is set aside, with the reason."""
        began = time.perf_counter()
        try:
            text = raw.decode() if isinstance(raw, bytes) else raw
            changed = change(text)
        except (MemoryError, OSError):
            raise  # the machine is in trouble, not the record
        except Exception as error:  # no record may stop the others, whatever is wrong with it
            if isinstance(error, StoreError) and not isinstance(error, RecordError | NestingError):
                raise  # the same of the store
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
    """Return the part of a store that a shard has for itself, if it needs one.

    A bucket reads all of a scope to know what is in it, which for a whole batch is too much. Other
    stores keep what several shards have once.
    """
    if job.store is None or not is_bucket(job.store):
        return None
    return digest_of(f"{shard.source}:{shard.start}:{shard.stop}")
