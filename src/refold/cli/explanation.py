"""Print one row per text, block by block: the first is to be read before the last is drawn.

A table of rich measures and pads every cell of all rows before it shows any of them, which takes
most of the time of a long file. Here a column is as wide as its widest cell, and that is all. Where
the columns would leave no room to read, they are one line above the story instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final

from refold.cli.render import ROLE_COLOURS, chars_of, number_of, role_of, shown
from refold.cli.words import action_word, clean, reason_words
from refold.report.pieces import sum_up

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console
    from rich.segment import Segment

    from refold.report.story import Row

    Layout = tuple[list[Segment], Callable[[Row], Iterator[Segment]]]
    """What stands above all rows, and how to draw one."""

_BLOCK_ROWS: Final = 100
"""Columns are as wide as a block needs them: more rows are drawn later, fewer have uneven
columns."""
_HEADS: Final = ("#", "role", "what", "chars")
_STORY_HEAD: Final = "why, before and after"
_GAP: Final = "   "
_TAB: Final = 8
"""What a terminal makes of a tab."""
_MIN_TABLE: Final = 100
"""A narrower screen has no room for columns beside the story."""
_INDENT: Final = 4
"""Of the text below a row, so that rows stand out."""
_MARK_CHARS: Final = 4
"""What a text may lose of two lines to its sign and to a word that does not fit."""


def print_explanation(console: Console, rows: Sequence[Row], *, full: bool) -> None:
    """Print the decisions with the texts themselves, shortened unless *full*."""
    from rich.segment import Segments

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
    """Draw each story below a line that says what happened to which text."""
    del rows  # nothing has to be measured
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
    from rich.cells import cell_len

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
    """Yield what there is to say about a text, each with its style."""
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
