"""Fold or unfold files of many conversations: with every engine, the same bytes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, get_args

from refold.batch.engines import GUARD, Engine, run_shards
from refold.batch.job import Job, Report, Shard
from refold.batch.output import Output, line_offsets
from refold.batch.shards import find_files, plan_shards
from refold.checks import check_choice, check_whole
from refold.errors import BatchError, RefoldError, describe

ENGINES: tuple[str, ...] = get_args(Engine)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The outcome of a batch."""

    manifest: dict[str, Any]
    """The content of `_manifest.json`: the job, sums, and a checksum for every part."""
    reports: tuple[Report, ...] = ()
    """One per part, with times; none if there was nothing left to do."""

    def slowest(self, count: int) -> list[tuple[float, str, int]]:
        """Return seconds, file and line of the slowest records."""
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
    on_start: Callable[[Sequence[Shard], Sequence[Report]], None] | None = None,
    on_report: Callable[[Report], None] | None = None,
) -> BatchResult:
    """Do *job* to all records of *inputs*: files, folders, patterns and datasets.

    Every part is written whole, with a report; a killed run is resumed by running it again, and
    gives the same bytes. With *engine* `ray` or `spark`, *address* names a cluster, whose machines
    need refold, and the inputs and the output under the same paths. *on_start* is called with all
    shards and the reports of earlier runs, and *on_report* with each new report.

    A part whose workers die, three in a row, is set aside with the reason.

    Raises `BatchError` if the output folder holds anything else, and in a script that calls it
    without a main guard.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise BatchError(GUARD)  # a worker imports the script
    check_choice("engine", engine, ENGINES)
    for name, value in (("workers", workers), ("part_bytes", part_bytes)):
        if value is not None:
            check_whole(name, value)
    try:
        files = find_files(inputs, job.out)
        shards = plan_shards(files, part_bytes)
        output = Output(job, files, shards)
        with output.opened() as finished:
            if finished is not None:
                return BatchResult(manifest=finished)
            reports = output.reports()
            if on_start is not None:
                on_start(shards, list(reports.values()))
            left = [shard for shard in shards if shard.number not in reports]
            work = run_shards(job, left, engine=engine, workers=workers, address=address)
            with closing(work) as done:  # workers are ended even after an error
                for report in done:
                    reports[report.shard.number] = report
                    if on_report is not None:
                        on_report(report)
            manifest = output.finish(reports)
            ordered = tuple(reports[shard.number] for shard in shards)
            return BatchResult(manifest=manifest, reports=ordered)
    except RefoldError:
        raise
    except Exception as error:  # of files and folders, of Arrow, and whatever Ray and Spark raise
        raise BatchError(describe(error)) from error
