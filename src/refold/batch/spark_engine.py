"""The engine `spark`: shards as rows of a Spark data frame, on this machine or a cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from refold.batch.extras import need
from refold.batch.job import Job, Report, Shard
from refold.batch.local import count_cores
from refold.batch.parts import do_shard


def run_spark(
    job: Job, shards: Sequence[Shard], workers: int | None, address: str | None
) -> Iterator[Report]:
    """Do *shards* with `mapInArrow`, one a partition; yield the reports when all are done."""
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

        def do_batches(batches: Iterator[Any]) -> Iterator[Any]:
            pa = need("pyarrow", "batch")
            for batch in batches:
                numbers = batch.column("id").to_pylist()
                reports = [do_shard(job, shards[number]).to_json() for number in numbers]
                yield pa.RecordBatch.from_pydict({"report": reports})

        rows = spark.range(0, len(shards), 1, len(shards))
        for row in rows.mapInArrow(do_batches, "report string").collect():
            yield Report.from_json(row["report"])
    finally:
        if is_ours:
            spark.stop()
