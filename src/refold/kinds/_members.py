"""From the members of a document to stretches: short containers are one, long ones fall apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from refold.kinds.base import LONG, Grade

MEMBER: Final = Grade("member", 1.3)
RECORD: Final = Grade("record", 1.2)
NOTHING: Final = Grade("empty", 0.2, room=200)
_FIRST: Final = {grade: replace(grade, begins=True) for grade in (MEMBER, RECORD)}
"""With what a container begins: it is never shown as if it belonged to the one before."""


class Members:
    """Where the members of a document end, and what each is worth."""

    def __init__(self) -> None:
        self.ends: list[int] = []
        self.grades: list[Grade] = []
        self._opened: list[tuple[int, int]] = []
        """Where each open container starts, and how many ends came before."""
        self._is_new = False
        """Whether a container was opened last: its name and bracket go with its first member."""

    def add(self, end: int, grade: Grade = MEMBER) -> None:
        """Add a member that begins where the last one ends."""
        if self._is_new:
            self._is_new = False
            self.ends[-1], self.grades[-1] = end, grade
        else:
            self.ends.append(end)
            self.grades.append(grade)

    def open(self, start: int, end: int) -> None:
        """Add the beginning of a container."""
        known = len(self.ends) - self._is_new
        self._opened.append((start, known))
        self.add(end)
        self._is_new = True

    def close(self, end: int) -> None:
        """End the container that was opened last: a short one becomes one record."""
        if not self._opened:
            self.add(end)
            return
        self._is_new = False
        start, known = self._opened.pop()
        if end - start > LONG:
            self.ends[-1] = end  # a closing bracket goes with the member before it
            self.grades[known] = _FIRST.get(self.grades[known], self.grades[known])
            return
        del self.ends[known:], self.grades[known:]
        self.add(end, RECORD)
