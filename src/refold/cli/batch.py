"""`refold batch`: fold files of conversations, however many, and unfold them again."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, cast

import click

from refold.batch.engines import Engine
from refold.batch.job import Job
from refold.batch.output import REJECTED
from refold.batch.run import ENGINES, BatchResult, run_batch
from refold.cli.batch_progress import counting
from refold.cli.io import say, write_text
from refold.cli.options import (
    EPILOG,
    Share,
    fold_options,
    json_option,
    make_options,
    quiet_option,
    store_option,
)
from refold.stores.opening import read_keys

_SET_ASIDE = 5
_SLOWEST = 3

_EPILOG = f"""\b
Examples:
  refold batch chats.jsonl folded
  refold batch data/ folded --budget 8000 --store originals.db
  refold batch 'logs/**/*.jsonl.zst' folded --budget 50% --price 3
  refold batch train.parquet folded --column conversation --engine ray
  refold batch hf:HuggingFaceTB/smoltalk@test folded --engine spark
  refold batch folded back --unfold

\b
IN is a file, a folder, a quoted pattern, or hf:NAME@SPLIT. JSON lines (also
compressed with zstd) have one conversation per line: a list of messages, or
an object with "messages". Tables (Parquet, Arrow) have one per row.
--budget is for each of them.
OUT is a folder: parts, _manifest.json with their checksums, and records that
could not be read in _rejected.jsonl. Run the same command again to resume
what was interrupted.

{EPILOG}"""


def _read_size(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Read `500000`, `500KB`, `64MB` or `1GB`."""
    if value is None:
        return None
    text = value.strip().upper().removesuffix("B")
    factor = {"K": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:], 1)
    digits = text.rstrip("KMG")
    if not digits.isdecimal() or int(digits) == 0:
        raise click.BadParameter(f"{value!r} is no size, such as 500KB or 64MB")
    return int(digits) * factor


@click.command(epilog=_EPILOG)
@click.argument("paths", metavar="IN... OUT", nargs=-1, required=True)
@click.option("--unfold", is_flag=True, help="Unfold what this command has folded.")
@click.option(
    "--engine", type=click.Choice(ENGINES), default="local", help="Who does the work (local)."
)
@click.option("--workers", type=click.IntRange(min=1), help="How many at once; all cores.")
@click.option("--address", metavar="URL", help="The cluster of --engine ray or spark.")
@store_option
@click.option("--column", metavar="NAME", help="Which column or key has the messages.")
@click.option(
    "--part-size",
    callback=_read_size,
    metavar="SIZE",
    help="About how much a part has; 250KB to 64MB.",
)
@click.option("--price", type=float, metavar="USD", help="What a million tokens cost, for the sum.")
@fold_options
@json_option
@quiet_option
def command(
    *,
    paths: tuple[str, ...],
    unfold: bool,
    engine: str,
    workers: int | None,
    address: str | None,
    store: str | None,
    column: str | None,
    part_size: int | None,
    price: float | None,
    budget: int | Share | None,
    as_json: bool,
    quiet: bool,
    **choices: Any,
) -> int:
    """Fold files of many conversations, or unfold them."""
    *inputs, out = paths
    if not inputs:
        raise click.UsageError("name what to read and a folder to write to: IN... OUT")
    if address is not None and engine == "local":
        raise click.UsageError("--address is for --engine ray or spark")
    tokens = budget if isinstance(budget, int) else None
    job = Job(
        out=Path(out),
        options=make_options(token_budget=tokens, **choices),
        token_share=budget.percent / 100 if isinstance(budget, Share) else None,
        key=column,
        store=store,
        keys=read_keys(os.environ) if store else (),
        unfold=unfold,
    )
    with counting("unfolding" if unfold else "folding", quiet=quiet) as progress:
        result = run_batch(
            inputs,
            job,
            engine=cast(Engine, engine),
            workers=workers,
            address=address,
            part_bytes=part_size,
            on_start=progress.start,
            on_report=progress.advance,
        )
    if as_json:
        write_text(json.dumps(_summary(result, price), indent=2) + "\n", None)
    elif not quiet:
        from refold.cli.batch_summary import draw_summary
        from refold.cli.render import make_console

        make_console().print(draw_summary(_summary(result, price)))
    if not result.reports and result.manifest["parts"]:
        say("there was nothing left to do", quiet=quiet)
    rejected = result.manifest["totals"]["rejected"]
    if rejected:
        what = "1 record" if rejected == 1 else f"{rejected:,} records"
        say(f"{what} set aside in {Path(out) / REJECTED}", quiet=quiet)
    return _SET_ASIDE if rejected else 0


def _summary(result: BatchResult, price: float | None) -> dict[str, Any]:
    """Gather what the table and the JSON say."""
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
