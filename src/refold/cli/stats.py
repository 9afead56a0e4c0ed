"""`refold stats`: the figures of a fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from refold.cli.options import fold_preview, preview_options
from refold.cli.terminal import draw_totals, json_option, make_console, make_table, write_json
from refold.result import Compression

_EPILOG = """\b
Examples:
  refold stats chat.jsonl
  refold stats chat.jsonl --set fuzzy_dedup=true
  refold stats chat.json --json | jq .tokens_after"""


@click.command(epilog=_EPILOG)
@preview_options
@json_option
def command(*, as_json: bool, **given: Any) -> None:
    """Show the figures of a fold: tokens and what happened. Changes nothing."""
    with fold_preview(**given) as preview:
        before, after = turns = preview.folded.turns
        figures = preview.folded.result.compression
        if as_json:
            write_json({"messages_before": before, "messages_after": after, **figures.to_dict()})
        else:
            console = make_console()
            console.print(draw_totals(figures, turns, console.width))
            console.print(_draw_figures(figures))


def _draw_figures(figures: Compression) -> Table:
    """Draw all counters that are not zero."""
    table = make_table()
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in _figures(figures):
        table.add_row(Text(name), Text(value, style="bold"))
    return table


def _figures(figures: Compression) -> Iterator[tuple[str, str]]:
    for name, value in figures.to_dict().items():
        is_idle = value is None or (isinstance(value, int) and value == 0)
        if name == "decisions" or is_idle:
            continue
        shown = f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"
        yield name.replace("_", " "), shown
