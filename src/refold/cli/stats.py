"""`refold stats`: the figures of a fold."""

from __future__ import annotations

from typing import Any

import click

from refold.cli.io import write_json
from refold.cli.options import check_budget, json_option
from refold.cli.preview import fold_preview, preview_options
from refold.cli.render import draw_figures, draw_totals, make_console

_EPILOG = """\b
Examples:
  refold stats chat.jsonl
  refold stats chat.jsonl --set fuzzy_dedup=true
  refold stats chat.json --json | jq .tokens_after"""


@click.command(epilog=_EPILOG)
@preview_options
@json_option
def command(*, as_json: bool, **given: Any) -> None:
    """Show the figures of a fold: tokens, counters, quality. Changes nothing."""
    folded = fold_preview(**given).folded
    before, after = folded.turns
    figures = folded.result.compression
    if as_json:
        data = {"messages_before": before, "messages_after": after, **figures.to_dict()}
        write_json(data)
    else:
        console = make_console()
        console.print(draw_totals(figures, folded.turns, console.width))
        console.print(draw_figures(figures))
    check_budget(folded.result)
