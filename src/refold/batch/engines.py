"""Engines that run the shards of a batch: the cores of this machine, Ray or Spark."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Literal, NamedTuple

from refold.batch.job import Job, Report, Shard, report_of
from refold.batch.shards import do_shard
from refold.checks import need
from refold.errors import BatchError, RefoldError, describe

Engine = Literal["local", "ray", "spark"]

_POLL_SECONDS: Final = 1.0
"""How often to look for the reports of Spark: progress is shown in seconds, and a look costs a few
microseconds per shard. A guess."""
_TRIES: Final = 3
"""So many workers may die on a part before it is set aside."""
GUARD: Final = (
    "workers import the script that calls run_batch(), so it must do so below "
    'if __name__ == "__main__":'
)


def run_shards(
    job: Job, shards: Sequence[Shard], *, engine: Engine, workers: int | None, address: str | None
) -> Generator[Report, None, None]:
    """Process *shards* with *engine*; yield reports as shards finish."""
    match engine:
        case _ if not shards:
            return
        case "local":
            yield from _run_local(job, shards, workers)
        case "ray":
            yield from _run_ray(job, shards, workers, address)
        case "spark":
            yield from _run_spark(job, shards, workers, address)


def _run_local(job: Job, shards: Sequence[Shard], workers: int | None) -> Iterator[Report]:
    """Process *shards* in worker processes, by default one per core; yield reports.

    A worker that dies costs its part, which is tried again after all others, and set aside in the
    end.
    """
    count = min(workers or _count_cores(), len(shards))
    if count <= 1:
        yield from (do_shard(job, shard) for shard in shards)
        return
    waiting = deque(_Task(shard) for shard in shards)
    idle: list[_Worker] = []
    busy: dict[Connection, _Worker] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < count:
                worker = idle.pop() if idle else _Worker(job)
                busy[worker.connection] = worker
                worker.give(waiting.popleft())
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection), "only worker connections are waited for"
                worker = busy[connection]
                try:
                    answer = connection.recv()
                except (EOFError, OSError):
                    waiting.append(worker.lost_task())
                    busy.pop(connection).stop()
                    continue
                if isinstance(answer, RefoldError):
                    raise answer
                worker.has_started = True
                if answer is not None:
                    idle.append(busy.pop(connection))
                    yield answer
    finally:
        for worker in (*idle, *busy.values()):
            worker.stop()


def _count_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Task(NamedTuple):
    """A shard, and what became of the workers on it so far."""

    shard: Shard
    losses: int = 0
    trouble: str = ""


class _Worker:
    """A process that works on one shard at a time."""

    def __init__(self, job: Job) -> None:
        # Not forked: locks held by other threads of the caller would stay locked in the child.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, job), daemon=True)
        self._process.start()
        theirs.close()
        self.has_started = False

    def give(self, task: _Task) -> None:
        """Let the process work on the shard of *task*."""
        self._task = task
        with suppress(OSError):  # a process that is gone is noticed when it is waited for
            self.connection.send((task.shard, task.trouble))

    def lost_task(self) -> _Task:
        """Return the task of a process that is gone, to be tried again or set aside.

        Raises `BatchError` if the process could not even start or set a part aside.
        """
        self._process.join()
        code, (shard, losses, trouble) = self._process.exitcode or 0, self._task
        if not self.has_started and code > 0:
            raise BatchError(f"no worker could start (exit code {code}): {GUARD}")
        why = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        reason = f"a worker on {shard.part} is gone ({why}; it may have run out of memory)"
        if trouble:
            raise BatchError(f"{reason}: run the same command again to continue")
        is_last = losses + 1 == _TRIES
        return _Task(shard, losses + 1, f"{reason}, the last of {_TRIES}" if is_last else "")

    def stop(self) -> None:
        """End the process; an unfinished part is never visible."""
        # The connection comes last, or a worker that still answers would report a broken pipe.
        self._process.terminate()
        self._process.join()
        self._process.close()
        self.connection.close()


def _serve(connection: Connection, job: Job) -> None:
    """Process shards as they arrive; runs in a worker."""
    # The parent handles the interrupt and ends the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    connection.send(None)  # it has started
    while True:
        try:
            shard, trouble = connection.recv()
        except EOFError:
            return
        answer: Report | RefoldError
        try:
            answer = do_shard(job, shard, trouble)
        except RefoldError as error:
            answer = error
        except Exception as error:  # noqa: BLE001 - the parent must know of any error
            answer = BatchError(f"{shard.part} of {shard.source!r}: {describe(error)}")
        connection.send(answer)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _run_ray(
    job: Job, shards: Sequence[Shard], workers: int | None, address: str | None
) -> Iterator[Report]:
    """Process *shards* with `map_batches`, one per task; yield reports."""
    ray = need("ray", "ray")
    data = need("ray.data", "ray")
    is_ours = not ray.is_initialized()
    if is_ours:
        # refold shows its own progress and raises errors itself.
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        cores = {} if address else {"num_cpus": workers}
        ray.init(address=address, include_dashboard=False, **quiet, **cores)
    data.DataContext.get_current().enable_progress_bars = False
    try:
        rows = data.range(len(shards), override_num_blocks=len(shards))
        work = partial(_do_batch, job=job, shards=shards)
        for row in rows.map_batches(work, batch_size=1).iter_rows():
            yield Report.from_json(row["report"])
    finally:
        if is_ours:
            ray.shutdown()


def _do_batch(batch: dict[str, Any], *, job: Job, shards: Sequence[Shard]) -> dict[str, Any]:
    return {"report": [do_shard(job, shards[int(number)]).to_json() for number in batch["id"]]}


def _run_spark(
    job: Job, shards: Sequence[Shard], workers: int | None, address: str | None
) -> Iterator[Report]:
    """Process *shards* with `mapInArrow`, one per partition; yield reports."""
    sql = need("pyspark.sql", "spark")
    # Local workers use this Python; the workers of a cluster have their own.
    if address is None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = sql.SparkSession.getActiveSession()
    is_ours = spark is None
    if is_ours:
        spark = (
            sql.SparkSession.builder.master(address or f"local[{workers or _count_cores()}]")
            .appName("refold batch")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
    try:
        yield from _watch(job, shards, partial(_collect, spark, job, shards))
    finally:
        if is_ours:
            spark.stop()


def _collect(spark: Any, job: Job, shards: Sequence[Shard]) -> None:
    def do_batches(batches: Iterator[Any]) -> Iterator[Any]:
        pa = need("pyarrow", "batch")
        for batch in batches:
            for number in batch.column("id").to_pylist():
                do_shard(job, shards[number])
            yield pa.RecordBatch.from_pydict({"id": batch.column("id")})

    spark.range(0, len(shards), 1, len(shards)).mapInArrow(do_batches, "id long").collect()


def _watch(job: Job, shards: Sequence[Shard], work: Callable[[], None]) -> Iterator[Report]:
    """Yield reports as they are written, since Spark reports nothing before the end."""
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(work)
        left = list(shards)
        while left:
            is_last = done.done()
            waiting = []
            for shard in left:
                try:
                    text = report_of(job, shard).read_text()
                except FileNotFoundError:
                    waiting.append(shard)
                else:
                    yield Report.from_json(text)
            left = waiting
            if is_last:
                break
            with suppress(TimeoutError):
                done.exception(_POLL_SECONDS)
        done.result()
