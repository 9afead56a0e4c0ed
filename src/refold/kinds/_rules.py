"""Grading lines by how they begin: many rules, one pattern, one pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from refold.kinds.base import PLAIN, Grade

GradesByLine = dict[int, Grade]
"""The grade of each line that is not plain, by the place where the line starts, in order."""

END: Final = r"(?=\r?(?:\n|\Z))"
"""The end of a line, in a rule; some systems put a carriage return before the line break."""


def any_of(*patterns: str) -> str:
    """Return a pattern that matches what one of *patterns* matches."""
    return "(?:" + "|".join(patterns) + ")"


def ends_with(*endings: str) -> str:
    """Return a pattern for a whole line with one of *endings*, each of a fixed width.

    The line is taken in one go and then looked back at: nothing is tried twice.
    """
    found = (f"(?<={ending}{blank})" for ending in endings for blank in ("", r"\r"))
    return r"[^\n]*+" + any_of(*found) + END


def line_pattern(*patterns: str) -> re.Pattern[str]:
    """Compile what tells a line of some kind by its beginning, after the line break before it.

    No pattern may match a line break.
    """
    return re.compile("\n" + any_of(*patterns), re.MULTILINE)


def line_rules(prefix: str, *rules: tuple[Grade, str]) -> Callable[[str], GradesByLine]:
    """Return a function that grades the lines of a text by the first rule that matches.

    *prefix* comes before every rule. The whole starts with a literal line break, which the engine
    looks for at full speed; neither *prefix* nor a rule may match a line break.
    """
    grades = [PLAIN, *(grade for grade, _ in rules)]
    choices = "|".join(f"({pattern})" for _, pattern in rules)
    finditer = re.compile(f"\n{prefix}(?:{choices})").finditer

    def marks_of(text: str) -> GradesByLine:
        # With a line break put first, a match starts where, in *text*, its line starts.
        return {found.start(): grades[found.lastindex or 0] for found in finditer("\n" + text)}

    return marks_of


def mark_lines_with(pattern: re.Pattern[str], text: str, grade: Grade, marks: GradesByLine) -> None:
    """Give *grade* to every line in which *pattern* is found; it must not match a line break."""
    line = 0
    while found := pattern.search(text, line):
        marks[max(line, text.rfind("\n", line, found.start()) + 1)] = grade
        line = text.find("\n", found.end()) + 1
        if not line:
            return
