"""`refold diff`: what a fold changes, before and after, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Any, Final

import click
from rich.console import RenderableType
from rich.text import Text

from refold.cli.folding import FoldedFile
from refold.cli.options import fold_preview, preview_options
from refold.cli.terminal import (
    ROLE_COLOURS,
    action_word,
    chars_of,
    clean,
    draw_totals,
    make_console,
    number_of,
    pager_option,
    print_paged,
    reason_words,
    role_of,
    wrap,
)
from refold.report.changes import Pair, pair_lines
from refold.report.story import Row

_MIN_BESIDE: Final = 72
"""On a narrower terminal the lines are below each other, as in a patch."""
_HEAD_LINES: Final = 4
_TAIL_LINES: Final = 2
"""How much is shown of a long run of lines that are all unchanged, or all dropped."""

_EPILOG = """\b
Examples:
  refold diff chat.jsonl
  refold diff session.jsonl --budget 30%
  refold diff session.jsonl --budget 30% --full --no-pager"""


@click.command(epilog=_EPILOG)
@preview_options
@click.option("--full", is_flag=True, help="Show every line, even of long runs.")
@pager_option
def command(*, full: bool, is_paged: bool, **given: Any) -> None:
    """Show what a fold changes, before and after. Changes nothing."""
    with fold_preview(**given, trace=True) as preview:
        rows = [row for row in preview.rows() if row.is_turn and row.before != row.after]
        console = make_console()
        print_paged(console, _draw(rows, preview.folded, console.width, full), is_paged=is_paged)


def _draw(
    rows: Sequence[Row], folded: FoldedFile, width: int, full: bool
) -> Iterator[RenderableType]:
    if not rows:
        yield "  No message changes."
    for row in rows:
        yield _draw_head(row)
        yield draw_changes(row, width, full=full)
    yield ""
    yield draw_totals(folded.result.compression, folded.turns, width)


def _draw_head(row: Row) -> Text:
    word, colour = action_word(row.action)
    return Text.assemble(
        (f"\n#{number_of(row)} ", "bold"),
        (role_of(row), ROLE_COLOURS.get(row.role, "")),
        (" · ", "dim"),
        (word, colour),
        (f" · {chars_of(row)} chars · {reason_words(row.reason)}", "dim"),
    )


def draw_changes(row: Row, width: int, *, full: bool) -> Text:
    """Draw the lines of a text before and after: side by side, or as a patch if too narrow."""
    found = pair_lines(clean(row.before), clean(row.after))
    pairs = found if full else _shorten(found)
    draw = _draw_beside if width >= _MIN_BESIDE else _draw_below
    return Text("\n").join(line for pair in pairs for line in draw(pair, width))


def _shorten(pairs: Iterable[Pair]) -> Iterator[Pair | int]:
    """Replace the middle of each long run by its number of lines."""
    for _, run in groupby(pairs, lambda pair: (pair.is_same, pair.after is None)):
        lines = list(run)
        is_dull = lines[0].is_same or lines[0].after is None
        hidden = len(lines) - _HEAD_LINES - _TAIL_LINES
        if not is_dull or hidden <= 1:
            yield from lines
            continue
        yield from lines[:_HEAD_LINES]
        yield hidden if lines[0].is_same else -hidden
        yield from lines[-_TAIL_LINES:]


def _say_hidden(count: int) -> Text:
    what = "more lines kept" if count > 0 else "more lines dropped"
    return Text(f"  … {abs(count):,} {what}", style="dim italic")


def _draw_beside(pair: Pair | int, width: int) -> Iterator[Text]:
    if isinstance(pair, int):
        yield _say_hidden(pair)
        return
    room = (width - 3) // 2
    is_same = pair.is_same
    sign = "│" if is_same else "<" if pair.after is None else ">" if pair.before is None else "|"
    left = list(wrap(pair.before or "", room))
    right = list(wrap(pair.after or "", room))
    for before, after in zip_longest(left, right, fillvalue=""):
        drawn = Text.assemble((before, "" if is_same else "red"))
        drawn.append(" " * (room - drawn.cell_len))
        drawn.append(f" {sign} ", style="dim" if is_same else "bold")
        yield drawn.append(after, style="" if is_same else "green")


def _draw_below(pair: Pair | int, width: int) -> Iterator[Text]:
    if isinstance(pair, int):
        yield _say_hidden(pair)
        return
    sides = [(" ", pair.after, "")]
    if not pair.is_same:
        sides = [("-", pair.before, "red"), ("+", pair.after, "green")]
    for sign, text, style in sides:
        for line in wrap(text, width - 2) if text is not None else ():
            yield Text(f"{sign} {line}", style=style)
