"""What a kind of tool result is: how to know it, and how it breaks into pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from refold.kinds._sample import Sample

LONG: Final = 220
"""A piece is hardly ever longer than this many characters; longer lines are cut."""

_ERRORS: Final = frozenset({"error", "exit", "failure"})
_GRAVE: Final = 3.0
"""The weights of errors begin here; see `Grade.weight`."""


@dataclass(frozen=True, slots=True)
class Grade:
    """The verdict on one line: the worth of its piece, and how many like it share a piece."""

    label: str
    """Why, in a word: error, warning, exit, failure, frame, repeat, summary, signature, …"""
    weight: float
    """Its worth by its kind alone: 1 ordinary, 0.2 boilerplate, 2–3 what explains the rest."""
    must: bool = False
    """Errors, warnings, failing tests, exit codes: dropped only when nothing else is left."""
    room: int = 80
    """Neighbouring lines of this grade share a piece up to this many characters."""
    leads: bool = False
    """What stands below, up to the next one that leads, is shown only together with it."""
    times: int = 1
    """How many lines say this, numbers aside; only the first of them is a must."""
    begins: bool = False
    """Whether something begins here, such as a record: it shares no piece with what is before."""

    def may_go_on(self, grade: Grade) -> bool:
        """Tell whether a piece of this grade may go on with a line of another *grade*."""
        return not grade.begins and (
            grade is self
            or (
                grade.weight == self.weight
                and grade.must == self.must
                and grade.leads == self.leads
                and grade.times == self.times
            )
        )

    @property
    def is_error(self) -> bool:
        """Whether it says what went wrong: more than a warning, a detail or a summary."""
        return self.must and self.label in _ERRORS and self.weight >= _GRAVE


class Pieces(NamedTuple):
    """The stretches of a text that are kept or dropped as one; they tile it."""

    ends: list[int]
    grades: list[Grade]

    def add(self, end: int, grade: Grade) -> None:
        """Add a piece that begins where the last one ends."""
        self.ends.append(end)
        self.grades.append(grade)


PLAIN: Final = Grade("", 1.0)
NOISE: Final = Grade("boilerplate", 0.2, room=200)
SETTLED: Final = Grade("boilerplate", 0.2, room=200)
"""Boilerplate that looks like trouble but is not."""
ERROR: Final = Grade("error", 3.0, must=True)
WARNING: Final = Grade("warning", 2.0, must=True)
EXIT: Final = Grade("exit", 3.0, must=True)
FAILURE: Final = Grade("failure", 3.0, must=True)
EVIDENCE: Final = Grade("failure", 2.5, must=True)
"""What shows how something failed, or only that it did: it comes after the errors themselves."""
ASIDE: Final = Grade("aside", 1.5)
"""The rest of a long line that is a must."""
DETAIL: Final = Grade("failure", 1.5)
"""What surrounds a failure: the code that failed, values, output it captured."""
REPEAT: Final = Grade("repeat", 0.5, room=120)
"""An error line that stands in the text already."""
SUMMARY: Final = Grade("summary", 3.0)
BAD_SUMMARY: Final = Grade("summary", 3.0, must=True)
"""A summary that tells of trouble."""
HEADING: Final = Grade("heading", 1.5)
TABLE_HEAD: Final = Grade("heading", 3.0, leads=True)
"""What the cells of the rows below are called."""
SIGNATURE: Final = Grade("signature", 2.0)
USER_FRAME: Final = Grade("frame", 2.0, must=True, room=200)
OTHER_FRAME: Final = Grade("frame", 0.3, room=200)
PASSED: Final = Grade("passed", 0.2, room=200)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of tool result: a row of the table."""

    name: str
    claims: Callable[[Sample], bool]
    """Tell from a sample whether a text is of this kind."""
    split: Callable[[str], Pieces]
    """Cut a text of this kind into pieces."""
    is_sure: Callable[[Sample], bool] | None = None
    """Tell the plainest texts of this kind at once, before any kind is asked for its claim."""
    on_one_line: bool = False
    """Whether a text without line breaks can be of this kind."""
    is_excerpted: bool = True
    """Whether some pieces of such a text are a text as well, without the rest of it.

    Half of some JSON is none, and prose says nothing of what of it matters.
    """
