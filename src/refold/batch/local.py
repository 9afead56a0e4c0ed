"""The local engine: all cores of this machine, each with one shard at a time."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from refold.batch.job import Job, Report, Shard
from refold.batch.parts import do_shard
from refold.errors import BatchError, RefoldError, describe


def run_local(job: Job, shards: Sequence[Shard], workers: int | None) -> Iterator[Report]:
    """Do *shards* with so many processes, by default one a core; yield reports as they come."""
    count = min(workers or count_cores(), len(shards))
    if count <= 1:
        yield from (do_shard(job, shard) for shard in shards)
        return
    waiting = iter(shards)
    with ExitStack() as stack:
        busy: dict[Connection, _Worker] = {}
        for _ in range(count):
            worker = _start(job)
            stack.callback(worker.stop)
            worker.give(next(waiting))
            busy[worker.connection] = worker
        while busy:
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection), "nothing else is waited for"
                yield busy[connection].take()
                shard = next(waiting, None)
                if shard is None:
                    busy.pop(connection)
                else:
                    busy[connection].give(shard)


def count_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(slots=True)
class _Worker:
    """A process that does one shard after the other."""

    process: SpawnProcess
    connection: Connection
    shard: Shard | None = None

    def give(self, shard: Shard) -> None:
        """Hand out the next shard."""
        self.shard = shard
        try:
            self.connection.send(shard)
        except OSError as error:
            raise self._lost() from error

    def take(self) -> Report:
        """Return the report on the shard, or raise what went wrong."""
        try:
            answer: Report | RefoldError = self.connection.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        if isinstance(answer, RefoldError):
            raise answer
        return answer

    def stop(self) -> None:
        """End the process, whatever it is doing: no part of a shard is ever seen."""
        self.connection.close()
        self.process.terminate()
        self.process.join()
        self.process.close()

    def _lost(self) -> BatchError:
        self.process.join()
        code = self.process.exitcode
        why = f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        part = self.shard.part if self.shard else "nothing"
        return BatchError(
            f"the worker on {part} is gone ({why}; it may have run out of memory): "
            "run the same command again to go on"
        )


def _start(job: Job) -> _Worker:
    # Not forked: the caller may have threads, and what they hold would stay locked in the copy.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, job), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _serve(connection: Any, job: Job) -> None:
    """Do the shards that come; runs in a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, and ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            shard = connection.recv()
        except EOFError:
            return
        try:
            answer: Report | RefoldError = do_shard(job, shard)
        except RefoldError as error:
            answer = error
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent has to know
            answer = BatchError(f"{shard.part} of {shard.source!r}: {describe(error)}")
        connection.send(answer)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
