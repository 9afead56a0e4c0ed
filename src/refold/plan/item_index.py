"""An index of all items (words and values) of a conversation: where, how often and by whom."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntFlag
from typing import Final

from refold.scan.items import Shape, find_items, part_words, shape_of


class Voice(IntFlag):
    """Who said something: a set of voices."""

    USER = 1
    ASSISTANT = 2
    TOOL = 4
    CALL = 8
    """The assistant, in the arguments of a tool call."""


VOICES: Final = 16
"""The number of sets of voices."""
VOID: Final = -1
"""In place of a row: an item that means nothing."""
_LONG_WORD: Final = 60
"""Longer words recur too rarely to be cached."""


class _Words(dict[str, int]):
    """Word, as it stands between blanks → the row of its one item.

    Most words recur, and then one look-up is all it takes. A word with no item, or with several,
    maps to a number below `VOID` instead, under which `many` has their rows.
    """

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, int] = {}
        """Item → its row."""
        self.shape: list[int] = []
        self.many: dict[int, tuple[int, ...]] = {}

    def __missing__(self, word: str) -> int:
        if word.isascii() and (word.isalnum() or word.isidentifier()):  # one item, as it is
            row = self._row_of(word)
        else:
            items = find_items(word)
            if len(items) == 1:
                row = self._row_of(items[0])
            else:
                row = VOID - 1 - len(self.many)
                self.many[row] = tuple(map(self._row_of, items))
        if len(word) <= _LONG_WORD:
            self[word] = row
        return row

    def _row_of(self, item: str) -> int:
        """Return the row of *item*, a new one if it is seen for the first time."""
        row = self.rows.get(item)
        if row is None:
            shape = shape_of(item)
            if shape is Shape.NONE:
                return VOID
            row = self.rows[item] = len(self.shape)
            self.shape.append(int(shape))
        return row


@dataclass(frozen=True, slots=True)
class ItemStats:
    """What is known of each item, as columns; an item is a row of them."""

    number: dict[str, int]
    """Item → its row; items without a shape have none."""
    shape: list[int]
    first: list[int]
    """The first turn that said it."""
    last: list[int]
    turns: list[int]
    """How many turns said it."""
    times: list[int]
    voices: list[int]


class ItemIndex:
    """Collects the statistics of all items, text by text."""

    def __init__(self) -> None:
        self._words = _Words()
        self._first: list[int] = []
        self._last: list[int] = []
        self._turns: list[int] = []
        self._times: list[int] = []
        self._voices: list[int] = []

    def add_text(
        self, turn: int, voice: int, text: str, ends: list[int]
    ) -> tuple[list[int], list[tuple[int, ...]]]:
        """Index a text; return for each of its pieces the number of items and their rows.

        Turns come in order; *ends* are where the pieces of *text* end. Items that mean nothing are
        counted but have no rows. Rows are in the order of a set: their relevance is summed in that
        order, and another one would round differently.
        """
        row_of, many = self._words.__getitem__, self._words.many
        words = part_words(text)
        counts: list[int] = []
        shown: list[tuple[int, ...]] = []
        seen: list[int] = []
        start = 0
        for end in ends:
            items = list(map(row_of, words[start:end].split()))
            start = end
            rows = set(items)
            if rows and min(rows) < VOID:
                items = [row for word in items for row in many.get(word, (word,))]
                rows = set(items)
            rows.discard(VOID)
            counts.append(len(items))
            shown.append(tuple(rows))
            seen += items
        self._note(turn, voice, seen)
        return counts, shown

    def _note(self, turn: int, voice: int, seen: list[int]) -> None:
        fresh = len(self._words.shape) - len(self._first)
        self._first += [turn] * fresh
        self._last += [-1] * fresh
        self._turns += [0] * fresh
        self._times += [0] * fresh
        self._voices += [0] * fresh
        last, turns, times, voices = self._last, self._turns, self._times, self._voices
        counts = Counter(seen)
        counts.pop(VOID, None)
        for row, count in counts.items():
            times[row] += count
            voices[row] |= voice
            if last[row] != turn:
                last[row] = turn
                turns[row] += 1

    def stats(self) -> ItemStats:
        """Return the statistics so far."""
        return ItemStats(
            number=self._words.rows,
            shape=self._words.shape,
            first=self._first,
            last=self._last,
            turns=self._turns,
            times=self._times,
            voices=self._voices,
        )
