"""Fold files of generated conversations: speed a core, use of two cores, memory, growth, engines.

Records are conversations of `generate.py`, every one of them another. They are read with `json`
alone, folded by two workers, unfolded again and compared byte for byte. A machine may be shared, so
that CPU time is what counts, with the starts of all processes; wall time is shown beside it.

examples:
  python bench/batch.py
  python bench/batch.py --records 10000,100000 --messages 17
  python bench/batch.py --records 100 --engines ray,spark --engine-records 5000
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from generate import generate_messages
from refold import Options
from refold.batch import BatchResult, Job, run_batch
from table import draw

_CHUNK_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a batch."""

    wall: float
    cpu: float
    """CPU seconds of all processes, their starts included."""
    result: BatchResult

    @property
    def longest(self) -> float:
        """CPU seconds of the worker that had most to do."""
        workers: dict[int, float] = defaultdict(float)
        for report in self.result.reports:
            workers[report.worker] += report.cpu_seconds
        return max(workers.values())

    @property
    def peak(self) -> float:
        """The most memory that a worker had, or who hands out the work, in MB."""
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return max(own, *(report.peak_bytes for report in self.result.reports)) / 1e6


def write_records(path: Path, count: int, messages: int) -> int:
    """Write so many records; return how many bytes they have."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            record = {"id": number, "messages": generate_messages(messages, seed=number)}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return path.stat().st_size


_TICK: Final = 0.01
"""How finely a system counts the CPU seconds of processes: a few records may seem to take none."""


def time_json(path: Path) -> float:
    """Return the CPU seconds that reading and writing the same JSON takes."""
    began = time.process_time()
    with path.open("rb") as file:
        for line in file:
            json.dumps(json.loads(line), ensure_ascii=False).encode()
    return time.process_time() - began


def run(source: Path, out: Path, options: Options, *, unfold: bool = False, **choices: Any) -> Run:
    """Fold a file into a folder of its own, or unfold a folder."""
    job = Job(out=out, options=options, unfold=unfold)
    began, used = time.perf_counter(), sum(os.times()[:4])
    result = run_batch([str(source)], job, **choices)
    wall, cpu = time.perf_counter() - began, sum(os.times()[:4]) - used
    return Run(wall=wall, cpu=max(cpu, _TICK), result=result)


def measure_sizes(
    folder: Path, counts: Sequence[int], messages: int, options: Options
) -> list[list[str]]:
    """Fold files of several sizes with two workers, and unfold them."""
    rows = []
    smaller: tuple[int, float] | None = None
    for count in counts:
        path, out, back = folder / f"{count}.jsonl", folder / f"{count}", folder / "back"
        size = write_records(path, count, messages)
        plain = time_json(path)
        two = run(path, out, options, workers=2)
        growth = "–"
        if smaller is not None:
            # Others come and go on a shared machine: the smaller one is folded again afterwards.
            again = run(folder / f"{smaller[0]}.jsonl", folder / "again", options, workers=2)
            shutil.rmtree(folder / "again")
            factor = two.cpu / ((smaller[1] + again.cpu) / 2)
            growth = f"{factor:.1f}× for {count / smaller[0]:.0f}×"
        unfolded = run(out, back, options, unfold=True, workers=2)
        speeds = [size / max(s, _TICK) / 1e6 for s in (plain, two.cpu, unfolded.cpu)]
        rows.append(
            [
                f"{count:,}",
                f"{size / 1e6:,.1f}",
                *(f"{figure:,.2f}" for figure in (two.wall, two.cpu)),
                *(f"{speed:.2f}" for speed in speeds),
                f"{two.peak:.0f}",
                growth,
                "yes" if is_same(path, back) else "NO",
            ]
        )
        smaller = count, two.cpu
        shutil.rmtree(out)
        shutil.rmtree(back)
    return rows


def is_same(path: Path, back: Path) -> bool:
    """Tell whether the parts in a folder are a file, byte for byte."""
    with path.open("rb") as file:
        for part in sorted(back.glob("part-*")):
            with part.open("rb") as piece:
                while chunk := piece.read(_CHUNK_BYTES):
                    if file.read(len(chunk)) != chunk:
                        return False
        return not file.read(1)


def compare_cores(path: Path, folder: Path, options: Options) -> list[tuple[str, str]]:
    """Fold the same file with one worker and with two, and read it with `json` alone."""
    size = path.stat().st_size
    plain = time_json(path)
    one = run(path, folder / "one", options, workers=1)
    two = run(path, folder / "two", options, workers=2)
    return [
        ("json.loads and dumps alone", f"{size / plain / 1e6:.1f} MB/s a core"),
        ("refold batch", f"{size / one.cpu / 1e6:.2f} MB/s a core"),
        ("times slower", f"{one.cpu / plain:.0f}"),
        ("two workers, by CPU time", f"{one.cpu / two.longest:.2f}× as fast"),
        ("two workers, by the clock", f"{one.wall / two.wall:.2f}× as fast, starts included"),
        ("json alone, by the clock", f"{time_cores(path):.2f}× as fast: what the machine gives"),
    ]


def time_cores(path: Path) -> float:
    """Return how much faster two processes read the same JSON twice than one does."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(time_json, [path] * 2))  # both have started
        began = time.perf_counter()
        list(pool.map(time_json, [path] * 2))
        both = time.perf_counter() - began
        began = time.perf_counter()
        pool.submit(time_json, path).result()
        return 2 * (time.perf_counter() - began) / both


def compare_engines(
    folder: Path, engines: Sequence[str], count: int, messages: int, choices: Sequence[str]
) -> list[list[str]]:
    """Fold the same file with every engine, and one record to see what starting costs.

    Each is a command of its own: what one has started, such as Spark's Java, another would find.
    """
    many, single = folder / "many.jsonl", folder / "single.jsonl"
    write_records(many, count, messages)
    write_records(single, 1, messages)
    rows = []
    usual, expected = 0.0, {}
    for engine in ("local", *engines):
        named = ("--engine", engine, *choices)
        start, _ = time_command(single, folder / f"{engine}-single", named)
        whole, manifest = time_command(many, folder / f"{engine}-many", named)
        if engine == "local":
            usual, expected = whole - start, manifest
        each = f"{1000 * (whole - start - usual) / count:+.2f}" if engine != "local" else "–"
        is_same = "yes" if manifest == expected else "NO"
        rows.append([engine, f"{start:.1f}", f"{whole:.1f}", each, is_same])
    return rows


def time_command(path: Path, out: Path, choices: Sequence[str]) -> tuple[float, dict[str, Any]]:
    """Return the seconds that `refold batch` takes, and the manifest with its checksums."""
    command = [sys.executable, "-m", "refold", "batch", str(path), str(out), "--quiet"]
    began = time.perf_counter()
    subprocess.run([*command, "--workers", "2", *choices], check=True)
    seconds = time.perf_counter() - began
    return seconds, json.loads((out / "_manifest.json").read_text())


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print the tables."""
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", default="1000,10000", help="sizes (1000,10000)")
    parser.add_argument("--messages", type=int, default=5, help="messages a record (5)")
    parser.add_argument("--compare", type=int, help="on which size to compare cores (the first)")
    parser.add_argument("--budget", type=int, help="tokens a record may have (no budget)")
    parser.add_argument("--profile", default="standard", help="how to fold (standard)")
    parser.add_argument("--engines", default="", help="also compare these: ray,spark")
    parser.add_argument("--engine-records", type=int, default=5000, help="for that (5000)")
    arguments = parser.parse_args(argv)
    options = Options(token_budget=arguments.budget, profile=arguments.profile)
    counts = [int(count) for count in arguments.records.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        head = ["records", "MB", "wall s", "CPU s", "json MB/s", "fold MB/s", "unfold MB/s"]
        head += ["peak MB", "growth of CPU", "same bytes"]
        sizes = measure_sizes(folder, counts, arguments.messages, options)
        print(draw(head, sizes))
        print()
        chosen = folder / f"{arguments.compare or counts[0]}.jsonl"
        for what, figure in compare_cores(chosen, folder, options):
            print(f"{what:<28}{figure}")
        if arguments.engines:
            engines = arguments.engines.split(",")
            choices = ["--profile", arguments.profile]
            if arguments.budget:
                choices += ["--budget", str(arguments.budget)]
            rows = compare_engines(
                folder, engines, arguments.engine_records, arguments.messages, choices
            )
            print()
            print(draw(["engine", "one record s", "all s", "ms a record more", "same bytes"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
