"""One look over a whole conversation: where each word and value was said, how often and by whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Final

from refold.planner.items import Shape, shape_of


class Voice(IntFlag):
    """Who has said something; several may have."""

    USER = 1
    ASSISTANT = 2
    TOOL = 4
    CALL = 8
    """The assistant, in the arguments of a tool call."""


VOICES: Final = 16
"""How many combinations of voices there are."""


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
    _void: set[str] = field(default_factory=set)

    def hear(self, turn: int, voice: int, items: Iterable[str]) -> set[int]:
        """Take in what a turn says and return its rows; turns come in order."""
        number, last, times, void = self.number, self.last, self.times, self._void
        turns, voices = self.turns, self.voices
        heard: set[int] = set()
        for item in items:
            row = number.get(item)
            if row is None:
                row = None if item in void else self._add(item, turn)
                if row is None:
                    continue
            elif last[row] != turn:
                turns[row] += 1
                last[row] = turn
            times[row] += 1
            heard.add(row)
        for row in heard:
            voices[row] |= voice
        return heard

    def _add(self, item: str, turn: int) -> int | None:
        shape = shape_of(item)
        if shape is Shape.NONE:
            self._void.add(item)
            return None
        row = self.number[item] = len(self.shape)
        self.shape.append(shape)
        self.first.append(turn)
        self.last.append(turn)
        self.turns.append(1)
        self.times.append(0)
        self.voices.append(0)
        return row

    def value_share(self) -> float:
        """Return the share of values among all that was said."""
        said = sum(self.times)
        values = sum(
            count for count, shape in zip(self.times, self.shape, strict=True) if shape < Shape.WORD
        )
        return values / said if said else 0.0
