"""What codecs of tables share: runs of rows, and the widths of their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Rows = list[list[str]]


def cut_blocks(
    lines: list[str], belongs: Callable[[str], bool]
) -> Iterator[tuple[bool, list[str]]]:
    """Cut *lines* into runs that belong together and runs that do not."""
    run: list[str] = []
    is_block = False
    for line in lines:
        if belongs(line) != is_block:
            if run:
                yield is_block, run
            run, is_block = [], not is_block
        run.append(line)
    if run:
        yield is_block, run


def widths_of(rows: Rows) -> list[int]:
    """Return how wide the widest cell of each column is."""
    widths: list[int] = []
    for row in rows:
        widths += [0] * (len(row) - len(widths))
        for column, cell in enumerate(row):
            widths[column] = max(widths[column], len(cell))
    return widths
