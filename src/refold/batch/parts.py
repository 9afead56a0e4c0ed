"""Turn one shard into one part: all of it or nothing, on whatever machine this runs."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from refold.batch.job import Job, Kind, Report, Shard
from refold.batch.lines import work_on_lines
from refold.batch.tables import work_on_table
from refold.batch.work import Work, open_originals
from refold.private_files import OWNER_ONLY, replacing

SCRATCH: Final = ".refold"
"""Where an output folder has what is not done yet; gone when everything is."""

_WORKERS: Final[Mapping[Kind, Callable[[Shard, Work, BinaryIO], None]]] = {
    "jsonl": work_on_lines,
    "jsonl.zst": work_on_lines,
    "parquet": work_on_table,
    "arrow": work_on_table,
}


def do_shard(job: Job, shard: Shard) -> Report:
    """Write the part of *shard*, then the report that says so; return the report.

    A part appears whole, under its name, when its originals are in the store. What was done twice,
    because the report was missing, gives the same bytes again.
    """
    began = time.process_time()
    part, rejected = job.out / shard.part, rejects_of(job, shard)
    mode = mode_of(Path(shard.source))
    with (
        replacing(rejected) as rejects,
        replacing(part, folder=job.out / SCRATCH, mode=mode) as temporary,
    ):
        with (
            open_originals(job.store, job.keys, read_only=job.unfold) as store,
            temporary.open("wb") as out,
            rejects.open("w") as reasons,
        ):
            work = Work(job, shard, store, reasons)
            _WORKERS[shard.kind](shard, work, out)
        with temporary.open("rb") as whole:
            sha256 = hashlib.file_digest(whole, "sha256").hexdigest()
        work.figures.bytes_out = temporary.stat().st_size
    report = Report(
        shard=shard,
        sha256=sha256,
        lines=work.lines,
        figures=work.figures,
        kinds=dict(sorted(work.kinds.items())),
        errors=dict(sorted(work.errors.items())),
        slowest=sorted(work.slowest, reverse=True),
        cpu_seconds=time.process_time() - began,
        peak_bytes=_peak_bytes(),
        worker=os.getpid(),
    )
    with replacing(report_of(job, shard)) as temporary:
        temporary.write_text(report.to_json())
    return report


def report_of(job: Job, shard: Shard) -> Path:
    """Return where the report of a shard is: it is there if, and only if, the shard is done."""
    return job.out / SCRATCH / f"{shard.part}.json"


def rejects_of(job: Job, shard: Shard) -> Path:
    """Return where the records are that a shard has set aside."""
    return job.out / SCRATCH / f"{shard.part}.rejected"


def mode_of(source: Path) -> int:
    """Return the permissions of a file: what is made from it must not have more."""
    return OWNER_ONLY | source.stat().st_mode & 0o666


def _peak_bytes() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
