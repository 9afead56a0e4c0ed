"""`refold explain`: say what a fold would do to every message, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

import click
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.segment import Segment, Segments
from rich.style import Style
from rich.text import Text

from refold.cli.folding import FoldedFile
from refold.cli.options import fold_preview, preview_options
from refold.cli.terminal import (
    ROLE_COLOURS,
    action_word,
    chars_of,
    clean,
    draw_totals,
    excerpt,
    json_option,
    make_console,
    make_table,
    number_of,
    reason_words,
    role_of,
    shown,
    wrap,
    write_json,
)
from refold.report.pieces import count_pieces, find_runs, run_words, sum_up
from refold.report.story import Row

_EPILOG = """\b
Examples:
  refold explain chat.jsonl
  refold explain chat.jsonl --full --set recency_window=0
  refold explain session.jsonl --budget 20000
  refold explain session.jsonl --budget 20000 --message 14
  refold explain chat.json --json | jq '.[] | select(.decision == "deduped")'"""

_EXCERPT_CHARS: Final = 160
"""How much of a text `--json` shows without `--full`: two lines of a terminal."""

Layout = tuple[list[Segment], Callable[[Row], Iterator[Segment]]]
"""The lines above all rows, and the function that draws a row."""


@click.command(epilog=_EPILOG)
@preview_options
@json_option
@click.option("--full", is_flag=True, help="Show whole texts instead of excerpts.")
@click.option(
    "--message",
    "number",
    type=click.IntRange(min=0),
    metavar="N",
    help="Show one message piece by piece: what is kept, what is dropped, and why.",
)
def command(*, as_json: bool, full: bool, number: int | None, **given: Any) -> None:
    """Say what a fold does to every message, and why. Changes nothing."""
    with fold_preview(**given, trace=True) as preview:
        rows = list(preview.rows())
        if number is not None:
            rows = _choose(rows, number)
        if as_json:
            with_pieces = full or number is not None
            write_json([_spell_row(row, full=full, with_pieces=with_pieces) for row in rows])
        else:
            _draw(rows, preview.folded, full=full, is_one=number is not None)


def _choose(rows: Sequence[Row], number: int) -> list[Row]:
    """Return the texts of one message."""
    chosen = [row for row in rows if row.index == number]
    if not chosen:
        last = rows[-1].index if rows else -1
        there = f"they are numbered from 0 to {last}" if rows else "there are none"
        raise click.UsageError(f"--message: there is no message {number}; {there}")
    return chosen


def _spell_row(row: Row, *, full: bool, with_pieces: bool) -> dict[str, Any]:
    """Return a row as JSON-ready data, with whole texts and pieces only on request."""
    shown: dict[str, Any] = {"before": row.before, "after": row.after}
    if not full:
        shown = {name: excerpt(text, _EXCERPT_CHARS) for name, text in shown.items()}
    if row.pieces:
        kept, dropped = count_pieces(row.pieces)
        shown |= {"kept": kept.to_dict(), "dropped": dropped.to_dict()}
        if with_pieces:
            shown["pieces"] = [piece._asdict() for piece in row.pieces]
    return {
        "message_index": row.index,
        "part": row.part,
        "message_id": row.id,
        "line": row.line,
        "role": row.role,
        "is_turn": row.is_turn,
        "decision": row.action,
        "reason": row.reason,
        "chars_before": row.chars_before,
        "chars_after": row.chars_after,
        **shown,
    }


def _draw(rows: Sequence[Row], folded: FoldedFile, *, full: bool, is_one: bool) -> None:
    console = make_console()
    if is_one:
        for row in rows:
            if row.pieces:
                console.print(draw_pieces(row, console.width, full=full))
            else:
                print_explanation(console, [row], full=full)
        return
    print_explanation(console, [row for row in rows if row.is_turn], full=full)
    notes = _draw_notes([row for row in rows if not row.is_turn])
    if notes is not None:
        console.print(notes)
    console.print(draw_totals(folded.result.compression, folded.turns, console.width))


def draw_pieces(row: Row, width: int, *, full: bool) -> RenderableType:
    """Draw a text piece by piece: what was kept, what was dropped, and why."""
    word, colour = action_word(row.action)
    table = make_table()
    for name, right in (("", False), ("lines", True), ("tokens", True)):
        table.add_column(name, justify="right" if right else "left", no_wrap=True)
    table.add_column("why", max_width=30)
    table.add_column("text", ratio=1, overflow="fold")
    for run in find_runs(row.pieces):
        style = colour if run[0].is_kept else "dim"
        first, last = run[0].first_line, run[-1].last_line
        said = "".join(piece.text for piece in run)
        table.add_row(
            Text("kept" if run[0].is_kept else "dropped", style=style),
            Text(f"{first:,}" if first == last else f"{first:,}–{last:,}", style="dim"),
            Text(f"{sum(piece.tokens for piece in run):,}", style="dim"),
            Text(clean(run_words(run)), style=style),
            Text(shown(said, max(28, width - 64), full), style=style),
        )
    head = Text.assemble(
        (f"#{number_of(row)} {row.role} · ", "bold"),
        (word, colour),
        f" · {reason_words(row.reason)}",
    )
    return Group(head, Text(clean("\n".join(sum_up(row.pieces)))), table)


def _draw_notes(rows: Sequence[Row]) -> Text | None:
    """Draw one line for all records that are not sent to a model, if there are any."""
    if not rows:
        return None
    records = "1 record" if len(rows) == 1 else f"{len(rows):,} records"
    return Text(f"  and {records} of the session that no model sees", style="dim")


_BLOCK_ROWS: Final = 100
"""How many rows are printed at once: with more of them, the first ones appear later."""
_HEADS: Final = ("#", "role", "what", "chars")
_STORY_HEAD: Final = "why, before and after"
_GAP: Final = "   "
_MIN_TABLE: Final = 100
"""A narrower screen has no room for columns beside the story."""
_INDENT: Final = 4
"""Indentation of the text below a row, so that rows stand out."""
_MARK_CHARS: Final = 4
"""Room on two lines for the sign of a text and for a word that does not fit."""


def print_explanation(console: Console, rows: Sequence[Row], *, full: bool) -> None:
    """Print the decisions with the texts themselves, shortened unless *full*.

    This does not use a table of rich, which measures and pads every cell before it shows any row:
    on a long file that takes longer than the fold. Rows are printed in blocks. On a narrow screen,
    where columns would leave no room for the texts, their content is a line above each text.
    """
    if console.width < _MIN_TABLE:
        head, draw = _draw_below(rows, console.width, full)
    else:
        head, draw = _draw_beside(rows, console.width, full)
    console.print(Segments(head), crop=False, end="")
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        console.print(Segments(chain.from_iterable(map(draw, block))), crop=False, end="")
    console.print()


def _draw_below(rows: Sequence[Row], width: int, full: bool) -> Layout:
    """Draw each story below a line with the columns."""
    del rows  # no columns, so there is nothing to measure
    room = width - _INDENT

    def draw(row: Row) -> Iterator[Segment]:
        number, role, action, chars = zip(_cells(row), _styles(row), strict=True)
        yield _segment("\n")
        for text, style in ((f"#{number[0]} ", "bold"), role, (" · ", ""), action, (" · ", "")):
            yield _segment(text, style)
        yield _segment(f"{chars[0]} chars\n", chars[1])
        for text, style in _story(row, 2 * room - _MARK_CHARS, full):
            for line in wrap(text, room):
                yield _segment(f"{' ' * _INDENT}{line}\n", style)

    return [], draw


def _draw_beside(rows: Sequence[Row], width: int, full: bool) -> Layout:
    """Draw the stories in the last column of a table."""
    cells = [_cells(row) for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(_HEADS, *cells, strict=True)]
    room = width - _left(widths)

    def draw(row: Row) -> Iterator[Segment]:
        left = _draw_cells(_cells(row), _styles(row), widths)
        return _draw_row(left, _story(row, 2 * room - _MARK_CHARS, full), room)

    return list(_draw_head(widths, room)), draw


def _cells(row: Row) -> tuple[str, str, str, str]:
    return number_of(row), role_of(row), action_word(row.action)[0], chars_of(row)


def _styles(row: Row) -> tuple[str, str, str, str]:
    is_changed = row.chars_before != row.chars_after
    colour = action_word(row.action)[1]
    return "dim", ROLE_COLOURS.get(row.role, ""), colour, "" if is_changed else "dim"


def _story(row: Row, chars: int, full: bool) -> Iterator[tuple[str, str]]:
    """Yield what is said about a text, each line with its style."""
    yield reason_words(row.reason), ""
    for words in sum_up(row.pieces):
        yield clean(words), ""
    is_same = row.before == row.after
    if row.before:
        yield ("" if is_same else "− ") + shown(row.before, chars, full), "dim"
    if row.after and not is_same:
        yield "+ " + shown(row.after, chars, full), action_word(row.action)[1]


def _draw_head(widths: Sequence[int], room: int) -> Iterator[Segment]:
    yield _segment("\n")
    heads = _draw_cells(_HEADS, ["bold"] * len(_HEADS), widths)
    yield from _draw_row(heads, iter([(_STORY_HEAD, "bold")]), room)
    yield _segment(f" {'─' * (_left(widths) + room - 1)}\n")


def _left(widths: Sequence[int]) -> int:
    """Return the width of the columns left of the story."""
    return 1 + sum(widths) + len(_GAP) * len(widths)


def _draw_cells(
    cells: Sequence[str], styles: Sequence[str], widths: Sequence[int]
) -> Iterator[Segment]:
    """Draw the columns left of the story; numbers are aligned to the right."""
    yield _segment(" ")
    for place, (text, style, width) in enumerate(zip(cells, styles, widths, strict=True)):
        blank = " " * (width - cell_len(text))
        yield _segment((text + blank if place in (1, 2) else blank + text) + _GAP, style)


def _draw_row(
    left: Iterator[Segment], story: Iterator[tuple[str, str]], room: int
) -> Iterator[Segment]:
    """Draw the cells and, beside and below them, the lines of the story."""
    cells = list(left)
    for text, style in story:
        for line in wrap(text, room):
            yield from cells
            yield _segment(line, style)
            yield _segment("\n")
            cells = [_segment(" " * sum(cell.cell_length for cell in cells))]


def _segment(text: str, style: str = "") -> Segment:
    return Segment(text, Style.parse(style))
