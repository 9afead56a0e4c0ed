"""Lines of a result: graded by how they begin, then joined or cut into pieces."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from refold.kinds.base import ASIDE, LONG, PLAIN, Grade, Pieces

Spot = tuple[int, Grade]
"""A place in a long line, and the grade of the cut that it lies in."""

TINY: Final = 2
"""Lines no longer than this (blank, a bracket) go with the line before them."""


def tile(text: str, marks: Mapping[int, Grade], spots: Sequence[Spot] = ()) -> Pieces:
    """Cut *text* into pieces of about a line each.

    *marks* grade whole lines; *spots* grade only the cut of a long line that they lie in.
    """
    pieces = Pieces([], [])
    add_end, add_grade = pieces.ends.append, pieces.grades.append
    grade_at = marks.get
    start = pos = 0
    grade = PLAIN
    for length in map(len, text.split("\n")):
        after = pos + length + 1
        if length <= TINY and pos not in marks and after - start <= LONG:
            pos = after
            continue
        here = grade_at(pos, PLAIN)
        if start < pos and (here is not grade or after - start > grade.room):
            add_end(pos)
            add_grade(grade)
            start = pos
        grade = here
        pos = after
        if length > LONG:
            for piece in _cut_long(text, start, min(after, len(text)), grade, spots):
                pieces.add(*piece)
            start, grade = pos, PLAIN
    if start < len(text):
        pieces.add(len(text), grade)
    return pieces


def join(
    text: str,
    ends: Sequence[int],
    grades: Sequence[Grade],
    spots: Sequence[Spot] = (),
    *,
    cuts: bool = True,
) -> Pieces:
    """Make pieces of stretches that end at *ends*; the last one ends with the text.

    Short neighbours of one grade are joined, and long stretches cut if it *cuts* any; a spot
    overrules the grade of the stretch it lies in.
    """
    pieces = Pieces([], [])
    add_end, add_grade = pieces.ends.append, pieces.grades.append
    start = pos = 0
    held = PLAIN
    worst = iter([*spots, (len(text), PLAIN)])
    place, verdict = next(worst)
    for end, graded in zip(ends, grades, strict=True):
        grade = graded
        if place < end:
            grade = verdict
            while place < end:
                place, verdict = next(worst)
        if start < pos:
            if end - start <= held.room and (grade is held or _goes_on(held, grade)):
                grade = held
            else:
                add_end(pos)
                add_grade(held)
                start = pos
        held = grade
        pos = end
        if cuts and end - start > LONG:
            for piece in _cut_long(text, start, end, held, spots):
                pieces.add(*piece)
            start = end
    if start < len(text):
        pieces.add(len(text), held)
    return pieces


def _goes_on(held: Grade, grade: Grade) -> bool:
    """Return whether what begins with *held* goes on with *grade*."""
    return held.begins and grade.label == held.label and held.may_go_on(grade)


def _cut_long(
    text: str, start: int, end: int, grade: Grade, spots: Sequence[Spot]
) -> Iterator[tuple[int, Grade]]:
    """Cut a long stretch; of one that is a must, the first cut and those with a spot are."""
    nearest = bisect_left(spots, start, key=_place)
    for stop in cut_ends(text, start, end):
        here = grade
        while nearest < len(spots) and spots[nearest][0] < stop:
            here = spots[nearest][1]
            nearest += 1
        yield stop, here
        if grade.must:
            grade = ASIDE


def _place(spot: Spot) -> int:
    return spot[0]


def set_apart(pieces: Pieces, found: Iterable[re.Match[str]], grade: Grade) -> Pieces:
    """Make what was *found*, in order, pieces of their own with this *grade*."""
    apart = Pieces([], [])
    places = iter(found)
    here = next(places, None)
    for end, old in zip(*pieces, strict=True):
        while here is not None and here.start() < end:
            if here.start() > (apart.ends[-1] if apart.ends else 0):
                apart.add(here.start(), old)
            apart.add(here.end(), grade)
            here = next(places, None)
        if end > (apart.ends[-1] if apart.ends else 0):
            apart.add(end, old)
    return apart


def begin_below(pieces: Pieces, places: Iterable[int]) -> Pieces:
    """Let the first piece behind each of *places*, which come in order, begin something."""
    ends, grades = pieces
    for place in places:
        number = bisect_left(ends, place) + 1
        if number < len(grades):
            grades[number] = replace(grades[number], begins=True)
    return pieces


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
    """Compile a pattern for how lines of some kind begin, after the line break before them.

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


_PLACES: Final = (
    *("\n", "}, ", "},", "], ", "|"),  # records, and cells of a row
    *(". ", "。", "！", "？", "! ", "? "),  # sentences
    *("; ", ", ", "，", "、", ";", ",", " ", "&", "/"),
)
"""Where to cut, best first; the cut comes right after."""

_JOINERS: Final = "\u200d\ufe0e\ufe0f"
_IDEOGRAPHS: Final = "\u2e80"
"""The first character of the East Asian scripts, which have no blanks between words."""
_FIRST_LOW_HALF, _LAST_LOW_HALF = chr(0xDC00), chr(0xDFFF)


def cut_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where the pieces of `text[start:end]` end.

    None is longer than `LONG`, but where a word is.
    """
    while end - start > LONG:
        start = _best_cut(text, start, start + LONG, end)
        yield start
    if start < end:
        yield end


def _best_cut(text: str, start: int, stop: int, end: int) -> int:
    """Return the best place to cut in the second half of `text[start:stop]`, else its end."""
    low = (start + stop) // 2
    for place in _PLACES:
        found = text.rfind(place, low, stop)
        if found >= 0:
            return found + len(place)
    return _between_words(text, low, stop, end)


def _between_words(text: str, low: int, stop: int, end: int) -> int:
    """Return the last place in `text[low:stop]` that is in no word, else the first one behind.

    Scripts without blanks have words everywhere; what stands for one letter stays together.
    """
    at = stop
    while at > low and _is_in_word(text, at):
        at -= 1
    if at > low:
        return at
    at = stop
    while at < end and _is_in_word(text, at):
        at += 1
    return at


def _is_in_word(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before.isalnum() and after.isalnum() and before < _IDEOGRAPHS and after < _IDEOGRAPHS:
        return True
    return _belongs_together(text, at)


def _belongs_together(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return False
    return (
        after in _JOINERS
        or before == "\u200d"
        or unicodedata.combining(after) != 0
        or _FIRST_LOW_HALF <= after <= _LAST_LOW_HALF
        or "\U0001f3fb" <= after <= "\U0001f3ff"  # skin tones
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff")
    )
