"""One look over a whole conversation: where each word and value was said, how often and by whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntFlag
from itertools import chain
from typing import Final

from refold.planner.items import Shape, find_items, shape_of


class Voice(IntFlag):
    """Who has said something; several may have."""

    USER = 1
    ASSISTANT = 2
    TOOL = 4
    CALL = 8
    """The assistant, in the arguments of a tool call."""


VOICES: Final = 16
"""How many combinations of voices there are."""
VOID: Final = -1
"""Stands for the row of an item that means nothing."""
_LONG_WORD: Final = 60
"""Longer words are too rare to be remembered."""


class _Rows(dict[str, int]):
    """Item → its row, or `VOID`; an item that comes for the first time gets the next row."""

    def __init__(self, number: dict[str, int], shape: list[int]) -> None:
        super().__init__()
        self._number = number
        self._shape = shape

    def __missing__(self, item: str) -> int:
        shape = shape_of(item)
        if shape is Shape.NONE:
            row = VOID
        else:
            row = self._number[item] = len(self._shape)
            self._shape.append(int(shape))
        self[item] = row
        return row


class _Words(dict[str, tuple[int, ...]]):
    """Word, as it stands between blanks → the rows of its items.

    Most words come again and again: then one look-up is all it takes.
    """

    def __init__(self, rows: _Rows) -> None:
        super().__init__()
        self._row_of = rows.__getitem__

    def __missing__(self, word: str) -> tuple[int, ...]:
        if word.isascii() and (word.isalnum() or word.isidentifier()):  # one item, as it is
            rows: tuple[int, ...] = (self._row_of(word),)
        else:
            rows = tuple(map(self._row_of, find_items(word)))
        if len(word) <= _LONG_WORD:
            self[word] = rows
        return rows


@dataclass(slots=True)
class Survey:
    """What is known of each item; the columns share their row numbers."""

    number: dict[str, int] = field(default_factory=dict)
    """Item → its row; items without a shape have none."""
    shape: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    """The first turn that said it."""
    last: list[int] = field(default_factory=list)
    turns: list[int] = field(default_factory=list)
    """How many turns said it."""
    times: list[int] = field(default_factory=list)
    voices: list[int] = field(default_factory=list)
    _words: _Words = field(init=False)

    def __post_init__(self) -> None:
        self._words = _Words(_Rows(self.number, self.shape))

    def read(self, text: str) -> list[int]:
        """Return the rows of all items of *text* in reading order, `VOID` where one has none."""
        return list(chain.from_iterable(map(self._words.__getitem__, text.split())))

    def hear(self, turn: int, voice: int, rows: Iterable[int]) -> None:
        """Take in what a turn says, as it was read; turns come in order."""
        if len(self.first) < len(self.shape):
            self._grow(turn)
        last, turns, times, voices = self.last, self.turns, self.times, self.voices
        counts = Counter(rows)
        del counts[VOID]
        for row, count in counts.items():
            times[row] += count
            voices[row] |= voice
            if last[row] != turn:
                last[row] = turn
                turns[row] += 1

    def _grow(self, turn: int) -> None:
        """Give the items that were read for the first time their places in the columns."""
        fresh = len(self.shape) - len(self.first)
        self.first += [turn] * fresh
        self.last += [-1] * fresh
        for column in (self.turns, self.times, self.voices):
            column.extend([0] * fresh)

    def value_share(self) -> float:
        """Return the share of values among all that was said."""
        said = sum(self.times)
        values = sum(
            count for count, shape in zip(self.times, self.shape, strict=True) if shape < Shape.WORD
        )
        return values / said if said else 0.0
