"""Print one row per text, block by block: the first is to be read before the last is drawn.

A table of rich measures and pads every cell of all rows before it shows any of them, which takes
most of the time of a long file. Here a column is as wide as its widest cell, and that is all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from refold.cli.render import ROLE_COLOURS, chars_of, number_of, role_of, shown
from refold.cli.words import action_word, clean, reason_words
from refold.report.pieces import sum_up

if TYPE_CHECKING:
    from rich.console import Console
    from rich.segment import Segment

    from refold.report.story import Row

_BLOCK_ROWS: Final = 100
_HEADS: Final = ("#", "role", "what", "chars")
_STORY_HEAD: Final = "why, before and after"
_GAP: Final = "   "
_TAB: Final = 8
_MIN_STORY: Final = 12
"""Where less is left for the story, the terminal breaks the lines."""


def print_explanation(console: Console, rows: Sequence[Row], *, full: bool) -> None:
    """Print the decisions with the texts themselves, shortened unless *full*."""
    from rich.cells import cell_len
    from rich.segment import Segments

    cells = [_cells(row) for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(_HEADS, *cells, strict=True)]
    room = max(_MIN_STORY, console.width - _left(widths))
    chars = max(30, (console.width - 44) * 2)
    console.print(Segments(_draw_head(widths, room)), crop=False, end="")
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        drawn = (
            segment
            for row, texts in zip(rows[block], cells[block], strict=True)
            for segment in _draw_row(
                _draw_cells(texts, _styles(row), widths), _story(row, chars, full), room
            )
        )
        console.print(Segments(drawn), crop=False, end="")
    console.print()


def _cells(row: Row) -> tuple[str, str, str, str]:
    return number_of(row), role_of(row), action_word(row.action)[0], chars_of(row)


def _styles(row: Row) -> tuple[str, str, str, str]:
    is_changed = row.chars_before != row.chars_after
    colour = action_word(row.action)[1]
    return "dim", ROLE_COLOURS.get(row.role, ""), colour, "" if is_changed else "dim"


def _story(row: Row, chars: int, full: bool) -> Iterator[tuple[str, str]]:
    """Yield what there is to say about a text, each with its style."""
    yield reason_words(row.reason), ""
    for words in sum_up(row.pieces):
        yield clean(words), ""
    if row.before:
        yield "− " + shown(row.before, chars, full), "dim"
    if row.after and row.after != row.before:
        yield "+ " + shown(row.after, chars, full), action_word(row.action)[1]


def _draw_head(widths: Sequence[int], room: int) -> Iterator[Segment]:
    yield _segment("\n")
    heads = _draw_cells(_HEADS, ["bold"] * len(_HEADS), widths)
    yield from _draw_row(heads, iter([(_STORY_HEAD, "bold")]), room)
    yield _segment(f" {'─' * (_left(widths) + room - 1)}\n")


def _left(widths: Sequence[int]) -> int:
    """Return how much stands left of the story."""
    return 1 + sum(widths) + len(_GAP) * len(widths)


def _draw_cells(
    cells: Sequence[str], styles: Sequence[str], widths: Sequence[int]
) -> Iterator[Segment]:
    """Draw what stands left of the story; the columns with numbers are flush right."""
    from rich.cells import cell_len

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


def wrap(text: str, width: int) -> Iterator[str]:
    """Break *text* into lines of at most *width* cells, at blanks where there are any."""
    for line in text.expandtabs(_TAB).split("\n"):
        start = 0
        while start + (room := _fitting(line, start, width)) < len(line):
            blank = line.rfind(" ", start, start + room + 1)
            stop = blank if line[start : max(start, blank)].strip() else start + room
            yield line[start:stop].rstrip()
            start = stop + (line[stop] == " ")
        yield line[start:].rstrip()


def _fitting(line: str, start: int, width: int) -> int:
    """Return how many characters from *start* on fit into *width* cells; one at least."""
    from rich.cells import cell_len, get_character_cell_size

    piece = line[start : start + width]
    if piece.isascii() or cell_len(piece) <= width:
        return len(piece)
    cells = 0
    for count, char in enumerate(piece):
        cells += get_character_cell_size(char)
        if cells > width:
            return max(1, count)
    return len(piece)


def _segment(text: str, style: str = "") -> Segment:
    from rich.segment import Segment
    from rich.style import Style

    return Segment(text, Style.parse(style))
