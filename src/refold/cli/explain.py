"""`refold explain`: say what a fold would do to every message, and why."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import Any

import click

from refold.cli.folding import fold_file
from refold.cli.io import read_document, write_text
from refold.cli.options import (
    EPILOG,
    check_budget,
    file_argument,
    fold_options,
    json_option,
    make_options,
)
from refold.cli.originals import open_for_looking
from refold.cli.progress import working
from refold.cli.story import tell

_EPILOG = f"""\b
Examples:
  refold explain chat.jsonl
  refold explain chat.jsonl --full --set recency_window=0
  refold explain chat.json --json | jq '.[] | select(.decision == "compressed")'

{EPILOG}"""


@click.command(epilog=_EPILOG)
@file_argument
@fold_options
@json_option
@click.option("--full", is_flag=True, help="Show whole texts instead of excerpts.")
def command(*, file: str, as_json: bool, full: bool, **choices: Any) -> None:
    """Say what a fold does to every message, and why. Changes nothing."""
    options = make_options(**choices, trace=True)
    document = read_document(file)
    with ExitStack() as stack, working("folding", chars=len(document.text())) as progress:
        folded = fold_file(document, options, open_for_looking(document, file, stack), progress)
        rows = list(tell(document, folded, options.format))
    if as_json:
        data = [row.to_dict(full=full) for row in rows]
        write_text(json.dumps(data, indent=2) + "\n", None)
    else:
        from refold.cli.render import draw_explanation, draw_totals, make_console

        console = make_console()
        console.print(draw_explanation(rows, console.width, full=full))
        console.print(draw_totals(folded.result.compression, folded.turns, console.width))
    check_budget(folded.result)
