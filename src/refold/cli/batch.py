"""`refold batch`: fold files of conversations, however many, and unfold them again."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from refold.batch.engines import Engine
from refold.batch.job import Job, Report, Shard
from refold.batch.run import REJECTED, BatchResult, run_batch
from refold.cli import SET_ASIDE
from refold.cli.options import STORE_TO_WRITE, command, make_options
from refold.cli.terminal import clean, say, show, table, working, write_json
from refold.report.pieces import say_action, say_count
from refold.result import percent_saved
from refold.stores.opening import read_keys

_SLOWEST: Final = 3
"""How many of the slowest records are listed: enough to see a pattern. A guess."""


def _read_size(value: str) -> int:
    """Read `500000`, `500KB`, `64MB` or `1GB`."""
    text = value.strip().upper().removesuffix("B")
    factor = {"K": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:], 1)
    digits = text.rstrip("KMG")
    if not digits.isdecimal() or int(digits) == 0:
        raise click.BadParameter(f"{value!r} is not a size, such as 500KB or 64MB")
    return int(digits) * factor


@command(
    paths=("IN... OUT",),
    unfold=("--unfold", "Unfold what this command folded."),
    engine=("--engine local|ray|spark", "Where the work is done; local by default."),
    workers=("--workers N", "How many processes; one per core by default."),
    address=("--address URL", "Address of the cluster, for --engine ray or spark."),
    store=STORE_TO_WRITE,
    column=("--column NAME", "The column or key that holds the messages."),
    part_bytes=(
        "--part-size SIZE",
        "About how large a part is; 250KB to 64MB by default.",
        _read_size,
    ),
    price=("--price USD", "The price of a million tokens, to show what is saved.", float),
)
def batch_command(
    *,
    paths: tuple[str, ...],
    unfold: bool,
    engine: Engine = "local",
    workers: int | None,
    address: str | None,
    part_bytes: int | None,
    store: str | None,
    column: str | None,
    price: float | None,
    as_json: bool,
    quiet: bool,
    **choices: Any,
) -> int:
    """Fold files of many conversations, or unfold them.

    Examples:
      refold batch data/ folded --budget 8000 --store originals.db
      refold batch 'logs/**/*.jsonl.zst' folded --budget 50% --price 3
      refold batch train.parquet folded --column conversation --engine ray
      refold batch folded back --unfold

    IN is a file, a folder, a quoted pattern, or hf:NAME@SPLIT. JSON lines (also
    compressed with zstd) have one conversation per line: a list of messages, or
    an object with "messages". Tables (Parquet, Arrow) have one per row.
    --budget applies to each conversation.
    OUT is a folder: parts, _manifest.json with their checksums, and records that
    could not be read in _rejected.jsonl. Run the same command again to resume
    what was interrupted.
    """
    *inputs, out = paths
    if not inputs:
        raise click.UsageError("name what to read and a folder to write to: IN... OUT")
    if address is not None and engine == "local":
        raise click.UsageError("--address is for --engine ray or spark")
    job = Job(
        out=Path(out),
        options=make_options(**choices),
        key=column,
        store=store,
        keys=read_keys(os.environ) if store else (),
        unfold=unfold,
    )
    with working("unfolding" if unfold else "folding", quiet=quiet, is_long=True) as progress:
        done = list[int]()

        def start(shards: Sequence[Shard], reports: Sequence[Report]) -> None:
            total = sum(shard.size for shard in shards) or 1
            done.extend(report.shard.size for report in reports)
            progress.share = lambda: sum(done) / total

        result = run_batch(
            inputs,
            job,
            engine=engine,
            workers=workers,
            address=address,
            part_bytes=part_bytes,
            on_start=start,
            on_report=lambda report: done.append(report.shard.size),
        )
    summary = _summary(result, price)
    if as_json:
        write_json(summary)
    elif not quiet:
        show(table([(name, clean(value)) for name, value in _rows(summary)], left=2))
    if not result.reports and result.manifest["parts"]:
        say("there was nothing left to do", quiet=quiet)
    if summary["rejected"]:
        what = say_count(summary["rejected"], "record")
        say(f"{what} set aside in {Path(out) / REJECTED}", quiet=quiet)
    return SET_ASIDE if summary["rejected"] else 0


def _summary(result: BatchResult, price: float | None) -> dict[str, Any]:
    """Collect the figures for the table and the JSON."""
    totals = result.manifest["totals"]
    saved = totals["tokens_before"] - totals["tokens_after"]
    return {
        **totals,
        "parts": len(result.manifest["parts"]),
        "tokens_saved": saved,
        "saved_usd": None if price is None else saved * price / 1e6,
        "kinds": result.manifest["kinds"],
        "errors": result.manifest["errors"],
        "cpu_seconds": round(sum(report.cpu_seconds for report in result.reports), 3),
        "slowest": [
            {"seconds": round(seconds, 4), "file": file, "line": line}
            for seconds, file, line in result.slowest(_SLOWEST)
        ],
    }


def _rows(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "records", f"{summary['records']:,} in {say_count(summary['parts'], 'part')}"
    if summary["rejected"]:
        errors = ", ".join(f"{count:,} {name}" for name, count in summary["errors"].items())
        yield "set aside", f"{summary['rejected']:,} ({errors})"
    before, after = summary["tokens_before"], summary["tokens_after"]
    if before:
        yield "tokens", f"{before:,} → {after:,} ({percent_saved(before, after)})"
    if summary["saved_usd"] is not None:
        yield "saves", f"${summary['saved_usd']:,.2f} each time they are sent"
    if summary["over_budget"]:
        yield "over budget", f"{summary['over_budget']:,}"
    for action, (texts, chars_before, chars_after) in summary["kinds"].items():
        yield (
            say_action(action),
            f"{say_count(texts, 'text')}, {chars_before:,} → {chars_after:,} characters",
        )
    yield "bytes", f"{summary['bytes_in']:,} read, {summary['bytes_out']:,} written"
    if summary["cpu_seconds"]:
        rate = summary["bytes_in"] / summary["cpu_seconds"] / 1e6
        yield "CPU time", f"{summary['cpu_seconds']:,.1f} s, {rate:.2f} MB/s a core"
    for slow in summary["slowest"]:
        yield "slowest", f"{slow['seconds']:.3f} s  {slow['file']}, line {slow['line']}"
