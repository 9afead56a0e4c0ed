"""Fold or unfold files of conversations, however many: with any engine, the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from refold.batch.job import Job, Report, Shard
from refold.batch.local import run_local
from refold.batch.output import Output, line_offsets
from refold.batch.sources import find_files, plan_shards
from refold.checks import check_choice, check_whole

Engine = Literal["local", "ray", "spark"]
ENGINES: tuple[str, ...] = get_args(Engine)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """What became of a batch."""

    manifest: dict[str, Any]
    """As it stands in `_manifest.json`: the job, sums, and a checksum for every part."""
    reports: tuple[Report, ...] = ()
    """One for each part, with times; none if there was nothing left to do."""

    def slowest(self, count: int) -> list[tuple[float, str, int]]:
        """Return seconds, file and line of the records that took longest."""
        offsets = line_offsets(self.reports)
        records = [
            (seconds, report.shard.source, offsets[report.shard.number] + line)
            for report in self.reports
            for seconds, line in report.slowest
        ]
        return sorted(records, reverse=True)[:count]


def run_batch(
    inputs: Sequence[str],
    job: Job,
    *,
    engine: Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    part_bytes: int | None = None,
    on_start: Callable[[Sequence[Shard]], None] = lambda _: None,
    on_report: Callable[[Report], None] = lambda _: None,
) -> BatchResult:
    """Do *job* to all records of *inputs*: files, folders, patterns and datasets.

    Every part is written whole, with a report; a run that was killed is taken up by running it
    again, and comes to the same bytes. With *engine* `ray` or `spark`, *address* names a cluster,
    whose machines need refold, and the inputs and the output under the same paths. *on_start* is
    told all shards, and *on_report* of each that is done, also by earlier runs.

    Raises `BatchError` if the output folder holds anything else.
    """
    check_choice("engine", engine, ENGINES)
    for name, value in (("workers", workers), ("part_bytes", part_bytes)):
        if value is not None:
            check_whole(name, value)
    files = find_files(inputs, job.out)
    shards = plan_shards(files, part_bytes)
    output = Output(job, files, shards)
    with output.opened():
        manifest = output.read_manifest()
        if manifest is not None:
            return BatchResult(manifest=manifest)
        reports = output.reports()
        on_start(shards)
        for report in reports.values():
            on_report(report)
        left = [shard for shard in shards if shard.number not in reports]
        for report in _run(job, left, engine, workers, address) if left else ():
            reports[report.shard.number] = report
            on_report(report)
        manifest = output.finish(reports)
    ordered = tuple(reports[shard.number] for shard in shards)
    return BatchResult(manifest=manifest, reports=ordered)


def _run(
    job: Job, shards: Sequence[Shard], engine: Engine, workers: int | None, address: str | None
) -> Iterator[Report]:
    match engine:
        case "local":
            return run_local(job, shards, workers)
        case "ray":
            from refold.batch.ray_engine import run_ray

            return run_ray(job, shards, workers, address)
        case "spark":
            from refold.batch.spark_engine import run_spark

            return run_spark(job, shards, workers, address)
