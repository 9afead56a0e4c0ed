"""`refold stats`: the figures of a fold."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import click

from refold.cli.budget import Share, check_budget, set_budget
from refold.cli.folding import fold_file
from refold.cli.io import read_document, write_text
from refold.cli.options import (
    EPILOG,
    conversation_option,
    file_argument,
    fold_options,
    json_option,
    known_option,
    make_options,
)
from refold.cli.originals import open_for_looking
from refold.cli.progress import working

_EPILOG = f"""\b
Examples:
  refold stats chat.jsonl
  refold stats chat.jsonl --set fuzzy_dedup=true
  refold stats chat.json --json | jq .tokens_after

{EPILOG}"""


@click.command(epilog=_EPILOG)
@file_argument
@fold_options
@known_option
@conversation_option
@json_option
def command(
    *,
    file: str,
    store: str | None,
    conversation: str | None,
    budget: int | Share | None,
    as_json: bool,
    **choices: Any,
) -> None:
    """Show the figures of a fold: tokens, counters, quality. Changes nothing."""
    options = make_options(**choices)
    document = read_document(file, conversation)
    options = set_budget(options, budget, document)
    with ExitStack() as stack, working("folding", chars=len(document.text())) as progress:
        known = open_for_looking(document, file, store, stack)
        folded = fold_file(document, options, known, progress)
    before, after = folded.turns
    figures = folded.result.compression
    if as_json:
        data = {"messages_before": before, "messages_after": after, **figures.to_dict()}
        write_text(json.dumps(data, indent=2) + "\n", None)
    else:
        from refold.cli.render import draw_figures, draw_totals, make_console

        console = make_console()
        console.print(draw_totals(figures, folded.turns, console.width))
        console.print(draw_figures(figures))
    check_budget(folded.result)
