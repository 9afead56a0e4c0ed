"""The engine `ray`: shards as rows of Ray Data, on this machine or a cluster."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from refold.batch.extras import need
from refold.batch.job import Job, Report, Shard
from refold.batch.parts import do_shard


def run_ray(
    job: Job, shards: Sequence[Shard], workers: int | None, address: str | None
) -> Iterator[Report]:
    """Do *shards* with `map_batches`, one a task; yield reports as they come."""
    ray = need("ray", "ray")
    data = need("ray.data", "ray")
    is_ours = not ray.is_initialized()
    if is_ours:
        # Progress is told by refold, and errors are raised.
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
