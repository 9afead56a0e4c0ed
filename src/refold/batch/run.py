"""Fold or unfold files of many conversations: with every engine, the same bytes.

The output folder has the parts. While a batch runs it also has a hidden folder with what is not
done yet: the job, and the report on each part. At the end there is a manifest instead.
"""

from __future__ import annotations

import errno
import hashlib
import json
import multiprocessing
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any, Final, get_args

import refold
from refold.batch.engines import GUARD, Engine, run_shards
from refold.batch.job import (
    SCRATCH,
    Figures,
    Job,
    Report,
    Shard,
    rejects_of,
    report_of,
    scratch_of,
)
from refold.batch.shards import find_files, mode_of, plan_shards
from refold.checks import check_choice, check_whole
from refold.errors import BatchError, RefoldError, describe
from refold.messages.wire import text_digest
from refold.private_files import replacing
from refold.stores.encrypted import id_of
from refold.stores.opening import without_secrets

ENGINES: tuple[str, ...] = get_args(Engine)
MANIFEST: Final = "_manifest.json"
REJECTED: Final = "_rejected.jsonl"
"""Both are hidden from readers of data folders: Spark, Hive, and refold itself."""
_JOB: Final = "job.json"
_WORDS: Final = {
    "refold": "the version of refold",
    "job": "the options",
    "modified": "when the inputs were written",
    "cuts": "the part size",
    "inputs": "the inputs",
    "store": "the store",
}
"""The fields of a manifest in words, for errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """The outcome of a batch."""

    manifest: dict[str, Any]
    """The content of `_manifest.json`: the job, sums, and a checksum for every part."""
    reports: tuple[Report, ...] = ()
    """One per part, with times; none if there was nothing left to do."""

    def slowest(self, count: int) -> list[tuple[float, str, int]]:
        """Return seconds, file and line of the slowest records."""
        offsets = _line_offsets(self.reports)
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
        output = _Output(job, files, shards)
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


class _Output:
    """An output folder, locked for one job while it is open."""

    def __init__(self, job: Job, files: Sequence[Path], shards: Sequence[Shard]) -> None:
        self.job = job
        self.shards = shards
        statuses = [(str(file), file.stat()) for file in files]
        self._inputs = [{"file": name, "bytes": status.st_size} for name, status in statuses]
        self._mode = reduce(and_, (mode_of(file) for file in files))
        self._identity = {
            **self._head(),
            "store": None if job.store is None else text_digest(without_secrets(job.store)),
            "modified": [status.st_mtime_ns for _, status in statuses],
            "cuts": [[shard.start, shard.stop] for shard in shards],
        }

    @contextmanager
    def opened(self) -> Iterator[dict[str, Any] | None]:
        """Create the folder, or resume the job in it; yield the manifest if the job is done.

        Raises `BatchError` if it belongs to another job, or if another process is working on it.
        """
        out = self.job.out
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            is_taken = isinstance(error, FileExistsError)
            reason = "it is not a folder; name one" if is_taken else error.strerror
            raise BatchError(f"cannot write to {str(out)!r}: {reason}") from error
        with _locked(out):
            manifest = self._finished()
            if manifest is None:
                self._resume()
            yield manifest

    def _resume(self) -> None:
        noted = scratch_of(self.job) / _JOB
        used: list[str] = []
        if noted.exists():
            used = self._used_keys(json.loads(noted.read_text()))
            for abandoned in scratch_of(self.job).rglob("*.tmp"):
                abandoned.unlink(missing_ok=True)
        elif any(name.name != SCRATCH for name in self.job.out.iterdir()):
            raise self._refusal("is not empty")
        scratch_of(self.job).mkdir(mode=0o700, exist_ok=True)
        with replacing(noted) as temporary:
            keys = sorted({*used, *_key_names(self.job)[:1]})
            temporary.write_text(json.dumps({**self._identity, "keys": keys}))

    def _used_keys(self, known: dict[str, Any]) -> list[str]:
        """Return the keys that earlier runs encrypted with; refuse to continue without them.

        A batch that has written nothing, as after a wrong option, does not block another one.
        """
        used: list[str] = known.pop("keys", [])
        if known != self._identity:
            if any(self.job.out.glob("part*")):
                changed = _changed(self._identity, known)
                raise self._refusal(f"holds another batch, not done yet (it differs in {changed})")
            return []
        names = _key_names(self.job)
        lost = set(used) - set(names)
        originals = f"originals of the batch in {str(self.job.out)!r}"
        if lost:
            raise BatchError(
                f"{originals} are encrypted with the key {min(lost)}, which was not given: add it "
                "after the one to encrypt with"
            )
        if names and not used:
            raise BatchError(
                f"{originals} are not encrypted so far: go on without keys, or give a folder and a "
                "store of its own"
            )
        return used

    def _finished(self) -> dict[str, Any] | None:
        """Return the manifest if this batch is done; refuse the folder of another one."""
        try:
            manifest: dict[str, Any] = json.loads((self.job.out / MANIFEST).read_text())
        except FileNotFoundError:
            return None
        changed = _changed(self._head(), manifest)
        if changed:
            raise self._refusal(f"holds another batch (it differs in {changed})")
        self._clean_up()
        return manifest

    def reports(self) -> dict[int, Report]:
        """Return the reports of all finished shards, by number."""
        reports = {}
        for shard in self.shards:
            with suppress(FileNotFoundError):
                report = Report.from_json(report_of(self.job, shard).read_text())
                # After a power cut, the report may be there without the part.
                if (self.job.out / shard.part).stat().st_size == report.figures.bytes_out:
                    reports[shard.number] = report
        return reports

    def finish(self, reports: Mapping[int, Report]) -> dict[str, Any]:
        """Write the rejected records, then the manifest; return the manifest."""
        ordered = [reports[shard.number] for shard in self.shards]
        totals, kinds, errors = Figures(), dict[str, list[int]](), Counter[str]()
        for report in ordered:
            totals.add(report.figures)
            errors.update(report.errors)
            for kind, sums in report.kinds.items():
                before = kinds.get(kind, [0, 0, 0])
                kinds[kind] = [a + b for a, b in zip(before, sums, strict=True)]
        manifest = {
            **self._head(),
            "totals": asdict(totals),
            "kinds": dict(sorted(kinds.items())),
            "errors": dict(sorted(errors.items())),
            "rejected": self._write_rejected(ordered) if totals.rejected else None,
            "parts": [
                {
                    "file": report.shard.part,
                    "sha256": report.sha256,
                    "source": report.shard.source,
                    "start": report.shard.start,
                    "stop": report.shard.stop,
                    **asdict(report.figures),
                }
                for report in ordered
            ],
        }
        manifest_path = self.job.out / MANIFEST
        with replacing(manifest_path, folder=scratch_of(self.job), mode=self._mode) as temporary:
            temporary.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n")
        self._clean_up()
        return manifest

    def _head(self) -> dict[str, Any]:
        return {
            "refold": refold.__version__,
            "job": self.job.describe(),
            "inputs": self._inputs,
        }

    def _write_rejected(self, ordered: Sequence[Report]) -> dict[str, str]:
        """Collect the rejected records of all shards, with line numbers of their files."""
        digest = hashlib.sha256()
        path = self.job.out / REJECTED
        offsets = _line_offsets(ordered)
        with (
            replacing(path, folder=scratch_of(self.job), mode=self._mode) as temporary,
            temporary.open("w", encoding="utf-8") as out,
        ):
            for report in ordered:
                with rejects_of(self.job, report.shard).open() as lines:
                    for line in lines:
                        note = json.loads(line)
                        note["line"] += offsets[report.shard.number]
                        text = json.dumps({"file": report.shard.source, **note}) + "\n"
                        digest.update(text.encode())
                        out.write(text)
        return {"file": REJECTED, "sha256": digest.hexdigest()}

    def _refusal(self, what: str) -> BatchError:
        return BatchError(f"{str(self.job.out)!r} {what}: name another folder")

    def _clean_up(self) -> None:
        # A worker of a killed batch may still be writing for a moment.
        for _ in range(3):
            shutil.rmtree(scratch_of(self.job), ignore_errors=True)


def _key_names(job: Job) -> list[str]:
    """Return the ids of the encryption keys; none when unfolding, which does not depend on them."""
    return [] if job.store is None or job.unfold else [id_of(key).hex() for key in job.keys]


def _line_offsets(ordered: Sequence[Report]) -> dict[int, int]:
    """Return the number of lines of its file before each shard, by the number of the shard."""
    seen: dict[str, int] = {}
    offsets = {}
    for report in ordered:
        before = seen.get(report.shard.source, 0)
        offsets[report.shard.number] = before
        seen[report.shard.source] = before + report.lines
    return offsets


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock *folder* against other batches; a killed process releases the lock."""
    try:
        import fcntl
    except ImportError:  # Windows cannot lock folders
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise BatchError(f"another batch is working on {str(folder)!r}") from error
            # Some network file systems do not support locks.
        yield
    finally:
        os.close(descriptor)


def _changed(new: Mapping[str, Any], old: Mapping[str, Any]) -> str:
    """Return the changed fields of a manifest in words."""
    return ", ".join(_WORDS[name] for name, value in new.items() if old.get(name) != value)
