"""Find the files of a batch, cut them into shards, and turn each shard into one part.

Shards do not depend on the engine, and parts do not depend on the machine.
"""

from __future__ import annotations

import glob
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from refold.batch.job import Job, Kind, Report, Shard, rejects_of, report_of, scratch_of
from refold.batch.lines import plan_lines, plan_packed_lines, work_on_lines
from refold.batch.tables import plan_arrow, plan_parquet, work_on_table
from refold.batch.work import Work, open_originals
from refold.checks import need
from refold.errors import FormatError, RefoldError, describe
from refold.private_files import OWNER_ONLY, replacing


class _Kind(NamedTuple):
    """How files of one kind are cut and changed."""

    suffixes: tuple[str, ...]
    plan: Callable[[Path, int], Iterator[tuple[int, int, int]]]
    """Yields start, stop and size of pieces of about so many bytes."""
    work: Callable[[Shard, Work, BinaryIO], None]
    """Changes the records of a shard and writes the part."""


_KINDS: Final[Mapping[Kind, _Kind]] = {
    "jsonl": _Kind((".jsonl", ".ndjson"), plan_lines, work_on_lines),
    "jsonl.zst": _Kind((".jsonl.zst",), plan_packed_lines, work_on_lines),
    "parquet": _Kind((".parquet",), plan_parquet, work_on_table),
    "arrow": _Kind((".arrow",), plan_arrow, work_on_table),
}
_SUFFIXES: Final = {suffix: name for name, kind in _KINDS.items() for suffix in kind.suffixes}
HUB: Final = "hf:"
"""The prefix for datasets on the Hugging Face hub: `hf:NAME` or `hf:NAME@SPLIT`."""
_HIDDEN: Final = (".", "_")
_CACHED: Final = "cache-"
"""The prefix of the files that `datasets` can derive from others."""
_PARTS: Final = 64
_MIN_PART_BYTES: Final = 250_000
_MAX_PART_BYTES: Final = 64_000_000
"""Enough parts to show progress and to use all cores, but not too many for a folder. After a kill,
at most one part per worker is done again: 64 MB take a core half a minute at 2 MB/s."""


def find_files(inputs: Sequence[str], out: Path) -> list[Path]:
    """Return the files named by paths, folders, patterns and datasets, each once.

    In folders, hidden files and those in *out* are skipped.
    """
    files: dict[Path, None] = {}
    for name in inputs:
        named = sorted(_find(name, out.absolute()))
        if not named:
            wanted = ", ".join(_SUFFIXES)
            raise FormatError(f"no such file, or none in it that ends with {wanted}", name)
        files.update(dict.fromkeys(named))
    return list(files)


def _find(name: str, out: Path) -> Iterator[Path]:
    path = Path(name)
    if name.startswith(HUB):
        # A dataset is loaded; its files are the Arrow files in which `datasets` keeps it.
        dataset_name, _, split = name.removeprefix(HUB).partition("@")
        dataset = need("datasets", "datasets").load_dataset(dataset_name, split=split or "train")
        yield from (Path(file["filename"]) for file in dataset.cache_files)
    elif path.is_file():
        if kind_of(path) is None:
            raise FormatError(f"unknown kind of file: expected {', '.join(_SUFFIXES)}", name)
        yield path
    elif path.is_dir():
        yield from (file for file in path.rglob("*") if _is_data(file, path, out))
    else:
        # Not `Path.glob`, which takes no absolute pattern.
        matches = map(Path, glob.glob(name, recursive=True))  # noqa: PTH207
        yield from (file for file in matches if _is_data(file, file.parent, out))


def _is_data(file: Path, below: Path, out: Path) -> bool:
    steps = file.relative_to(below).parts
    is_hidden = any(step.startswith(_HIDDEN) for step in steps) or file.name.startswith(_CACHED)
    is_ours = file.absolute().is_relative_to(out)
    return kind_of(file) is not None and file.is_file() and not is_hidden and not is_ours


def kind_of(path: Path) -> Kind | None:
    """Return the kind of a file by its name; `None` if it is unknown."""
    return next((kind for end, kind in _SUFFIXES.items() if path.name.endswith(end)), None)


def plan_shards(files: Sequence[Path], part_bytes: int | None = None) -> list[Shard]:
    """Cut files into shards of about *part_bytes*, by default a 64th of everything."""
    if part_bytes is None:
        total = sum(file.stat().st_size for file in files)
        part_bytes = min(max(total // _PARTS, _MIN_PART_BYTES), _MAX_PART_BYTES)
    shards: list[Shard] = []
    for file in files:
        kind = kind_of(file)
        assert kind is not None, "find_files returns only known kinds"
        try:
            for start, stop, size in _KINDS[kind].plan(file, max(1, part_bytes)):
                shards.append(
                    Shard(
                        number=len(shards),
                        kind=kind,
                        source=str(file),
                        start=start,
                        stop=stop,
                        size=size,
                    )
                )
        except RefoldError:
            raise
        except Exception as error:  # Arrow has many errors for invalid files
            raise FormatError(f"cannot be read as {kind}: {describe(error)}", str(file)) from error
    return shards


def do_shard(job: Job, shard: Shard, trouble: str = "") -> Report:
    """Write the part of *shard*, then its report; return the report.

    A part appears whole, once its originals are in the store. Doing a shard again, because its
    report is missing, gives the same bytes. With *trouble* all its records are set aside for that
    reason, without trying them.
    """
    began = time.process_time()
    part, rejected = job.out / shard.part, rejects_of(job, shard)
    for path in (part, rejected):
        path.parent.mkdir(exist_ok=True)
    mode = mode_of(Path(shard.source))
    with (
        replacing(rejected) as rejects,
        replacing(part, folder=scratch_of(job), mode=mode) as temporary,
    ):
        with (
            open_originals(job.store, job.keys, read_only=job.unfold) as store,
            temporary.open("wb") as out,
            rejects.open("w") as reasons,
        ):
            work = Work(job, shard, store, reasons, trouble)
            _KINDS[shard.kind].work(shard, work, out)
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


def mode_of(source: Path) -> int:
    """Return the permissions of a file, which what is made from it must not exceed."""
    return OWNER_ONLY | source.stat().st_mode & 0o666


def _peak_bytes() -> int:
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
