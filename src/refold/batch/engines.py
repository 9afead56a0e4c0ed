"""Engines that run the shards of a batch: the cores of this machine, Ray or Spark."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Literal

from refold.batch.job import Job, Report, Shard, report_of
from refold.batch.shards import do_shard
from refold.checks import need
from refold.errors import BatchError, RefoldError, describe

Engine = Literal["local", "ray", "spark"]

_POLL_SECONDS: Final = 1.0
"""How often to look for the reports of Spark: progress is shown in seconds, and a look costs a few
microseconds per shard. A guess."""


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
    """Process *shards* in worker processes, by default one per core; yield reports."""
    count = min(workers or _count_cores(), len(shards))
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
                assert isinstance(connection, Connection), "only worker connections are waited for"
                yield busy[connection].take()
                shard = next(waiting, None)
                if shard is None:
                    busy.pop(connection)
                else:
                    busy[connection].give(shard)


def _count_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(slots=True)
class _Worker:
    """A process that works on one shard at a time."""

    process: SpawnProcess
    connection: Connection
    shard: Shard | None = None

    def give(self, shard: Shard) -> None:
        """Send the next shard to the process."""
        self.shard = shard
        try:
            self.connection.send(shard)
        except OSError as error:
            raise self._lost() from error

    def take(self) -> Report:
        """Return the report on the shard, or raise the error of the process."""
        try:
            answer: Report | RefoldError = self.connection.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        if isinstance(answer, RefoldError):
            raise answer
        return answer

    def stop(self) -> None:
        """End the process; an unfinished part is never visible."""
        # The connection comes last, or a worker that still answers would report a broken pipe.
        self.process.terminate()
        self.process.join()
        self.process.close()
        self.connection.close()

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
    # Not forked: locks held by other threads of the caller would stay locked in the child.
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, job), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _serve(connection: Any, job: Job) -> None:
    """Process shards as they arrive; runs in a worker."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # the parent handles the interrupt and ends the workers
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
            new = [shard for shard in left if report_of(job, shard).exists()]
            yield from (Report.from_json(report_of(job, shard).read_text()) for shard in new)
            left = [shard for shard in left if shard not in new]
            if is_last:
                break
            with suppress(TimeoutError):
                done.exception(_POLL_SECONDS)
        done.result()
