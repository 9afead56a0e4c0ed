"""The engine `spark`: shards as rows of a Spark data frame, on this machine or a cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Final

from refold.batch.extras import need
from refold.batch.job import Job, Report, Shard
from refold.batch.local import count_cores
from refold.batch.parts import do_shard, report_of

_POLL_SECONDS: Final = 1.0


def run_spark(
    job: Job, shards: Sequence[Shard], workers: int | None, address: str | None
) -> Iterator[Report]:
    """Do *shards* with `mapInArrow`, one a partition; yield reports as they come."""
    sql = need("pyspark.sql", "spark")
    # Workers on this machine run what we run; those of a cluster have a Python of their own.
    if address is None:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = sql.SparkSession.getActiveSession()
    is_ours = spark is None
    if is_ours:
        spark = (
            sql.SparkSession.builder.master(address or f"local[{workers or count_cores()}]")
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
    """Yield reports as they are written; Spark itself tells nothing before all are."""
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
            wait([done], timeout=_POLL_SECONDS)
        done.result()
