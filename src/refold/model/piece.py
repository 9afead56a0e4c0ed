"""What became of one stretch of a text: the finest thing that a fold decides on."""

from __future__ import annotations

from typing import NamedTuple


class Piece(NamedTuple):
    """A stretch of a text that was kept or dropped as one, and why."""

    text: str
    is_kept: bool
    reason: str
    """A word, and after a colon what it is about: `error`, `value:src/queue.py`, `worth_less`."""
    tokens: int
    """Its share of the tokens of the text."""
    part: int | None
    """Which text of the message it is from; `None` for the tool calls."""
    first_line: int
    """The line of that text in which it begins, from 1."""
    last_line: int
