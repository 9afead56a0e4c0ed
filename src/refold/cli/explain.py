"""`refold explain`: say what a fold would do to every message, and why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from refold.cli.folding import FoldedFile
from refold.cli.io import write_text
from refold.cli.looking import fold_to_look, look_options, spell_row, tell
from refold.cli.options import EPILOG, check_budget, json_option
from refold.report.story import Row

_EPILOG = f"""\b
Examples:
  refold explain chat.jsonl
  refold explain chat.jsonl --full --set recency_window=0
  refold explain session.jsonl --budget 20000
  refold explain session.jsonl --budget 20000 --message 14
  refold explain chat.json --json | jq '.[] | select(.decision == "deduped")'

{EPILOG}"""


@click.command(epilog=_EPILOG)
@look_options
@json_option
@click.option("--full", is_flag=True, help="Show whole texts instead of excerpts.")
@click.option(
    "--message",
    "number",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show one message piece by piece: what is kept, what is dropped, and why.",
)
def command(
    *,
    as_json: bool,
    full: bool,
    number: int | None,
    **given: Any,
) -> None:
    """Say what a fold does to every message, and why. Changes nothing."""
    look = fold_to_look(**given, trace=True)
    rows = list(tell(look.document, look.folded, look.options.format))
    if number is not None:
        rows = _choose(rows, number)
    if as_json:
        with_pieces = full or number is not None
        data = [spell_row(row, full=full, with_pieces=with_pieces) for row in rows]
        write_text(json.dumps(data, indent=2) + "\n", None)
    else:
        _draw(rows, look.folded, full=full, is_one=number is not None)
    check_budget(look.folded.result)


def _choose(rows: Sequence[Row], number: int) -> list[Row]:
    """Return the texts of one message."""
    chosen = [row for row in rows if row.index == number]
    if not chosen:
        last = rows[-1].index if rows else -1
        there = f"they are numbered from 0 to {last}" if rows else "there are none"
        raise click.UsageError(f"--message: there is no message {number}; {there}")
    return chosen


def _draw(rows: Sequence[Row], folded: FoldedFile, *, full: bool, is_one: bool) -> None:
    from refold.cli.explanation import print_explanation
    from refold.cli.render import draw_notes, draw_pieces, draw_totals, make_console

    console = make_console()
    if is_one:
        for row in rows:
            if row.pieces:
                console.print(draw_pieces(row, console.width, full=full))
            else:
                print_explanation(console, [row], full=full)
        return
    print_explanation(console, [row for row in rows if row.is_turn], full=full)
    notes = draw_notes([row for row in rows if not row.is_turn])
    if notes is not None:
        console.print(notes)
    console.print(draw_totals(folded.result.compression, folded.turns, console.width))
