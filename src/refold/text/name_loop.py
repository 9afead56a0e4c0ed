r"""Finding names in one loop over the characters, which only a compiler makes fast.

It says what the patterns of `name_patterns` say, for these reasons:

- Identifiers, abbreviations and proper names begin and end with a word, a run of `\w`. An automaton
  reads each word as the loop goes along, and at the end of the word knows what it is.
- Quantities and versions begin with a word, or with a digit after an ideograph.
- Paths begin with a run of letters, dots, slashes and hyphens, so there is at most one in a run. It
  is looked for when the loop comes to a dot before a letter, for every path has an extension.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from refold.text.name_patterns import (
    ASCII_UNITS,
    CAMEL_KIND,
    KIND_COUNT,
    PASCAL_KIND,
    PATH_KIND,
    PROPER_KIND,
    QUANTITY,
    QUANTITY_KIND,
    SHORT_KIND,
    SNAKE_KIND,
    STARTERS,
    VERSION_KIND,
)
from refold.text.name_tables import (
    BREAK,
    DIGIT,
    ENDS_IN_IDEOGRAPH,
    FIRST_LETTER,
    IS_CAMEL,
    IS_HALF_PROPER,
    IS_PASCAL,
    IS_PROPER,
    IS_SHORT,
    IS_SNAKE,
    JOINT,
    LAST_LETTER,
    OUTSIDE,
    TABLE_SIZE,
    far_class,
    is_ideograph,
    name_tables,
)

if TYPE_CHECKING:
    from mypy_extensions import i64

_END: Final = 0
_SPACE: Final = 0x20
_PERCENT: Final = 0x25
_APOSTROPHE: Final = 0x27
_COMMA: Final = 0x2C
_HYPHEN: Final = 0x2D
_DOT: Final = 0x2E
_SLASH: Final = 0x2F
_SMALL_V: Final = 0x76
_LAST_ASCII: Final = 0x7F
_NOWHERE: Final = -1
_LONGEST_UNIT: Final = 9
_LONGEST_EXTENSION: Final = 6


class LoopNames:
    """Finds the names in texts."""

    def __init__(self) -> None:
        self._tables = name_tables()

    def read(self, text: str) -> list[list[str]]:
        """Return the names in *text* that the patterns of words find, a list for each kind."""
        reading = _Reading(text, self._tables.classes)
        reading.run(self._tables.steps, self._tables.marks)
        return reading.kinds


class _Reading:
    """One text and the names found in it so far."""

    def __init__(self, text: str, classes: bytes) -> None:
        self.text = text
        self.size: i64 = len(text)
        self.classes = classes
        self.kinds: list[list[str]] = [[] for _ in range(KIND_COUNT)]
        self.row_start: i64 = _NOWHERE
        self.first_end: i64 = _NOWHERE
        self.row_end: i64 = _NOWHERE
        """A row of proper names that may go on: where it starts, and its first and last end."""

    def run(self, steps: bytes, marks: bytes) -> None:
        """Read the text from beginning to end."""
        text, classes, size = self.text, self.classes, self.size
        place: i64 = 0
        start: i64 = 0
        run_start: i64 = 0
        """Where the last word began, and the last run that may be a path."""
        state: i64 = OUTSIDE
        while place < size:
            code: i64 = ord(text[place])
            kind: i64 = classes[code] if code < TABLE_SIZE else far_class(code)
            if kind > JOINT:
                if state == OUTSIDE:
                    start = place
                    if kind == DIGIT or code == _SMALL_V:
                        self.add_numbers(place, kind)
                elif kind == DIGIT and marks[state] & ENDS_IN_IDEOGRAPH:
                    self.add_quantity(place, self.skip_digits(place))
                state = steps[state * 16 + kind]
            else:
                if state != OUTSIDE:
                    if marks[state]:
                        self.add_word(start, place, marks[state])
                    state = OUTSIDE
                if kind == BREAK:
                    run_start = place + 1
                elif code == _DOT and run_start >= 0 and self.is_letter(place + 1):
                    self.add_path(run_start)
                    run_start = _NOWHERE
            place += 1
        if marks[state]:
            self.add_word(start, place, marks[state])
        self.end_row()

    def code_at(self, place: i64) -> i64:
        """Return the code of a character, or _END."""
        return ord(self.text[place]) if 0 <= place < self.size else _END

    def class_at(self, place: i64) -> i64:
        """Return the class of a character; beyond the end there is nothing of a word."""
        if place >= self.size:
            return BREAK
        code: i64 = ord(self.text[place])
        return self.classes[code] if code < TABLE_SIZE else far_class(code)

    def is_dot_or(self, other: i64, place: i64) -> bool:
        """Tell whether there is a dot or the *other* character."""
        return self.code_at(place) in (_DOT, other)

    def is_letter(self, place: i64) -> bool:
        """Tell whether there is an ASCII letter."""
        return FIRST_LETTER <= self.class_at(place) <= LAST_LETTER

    def skip_digits(self, place: i64) -> i64:
        """Return where the digits end that begin at *place*."""
        while self.class_at(place) == DIGIT:
            place += 1
        return place

    def add_word(self, start: i64, end: i64, marks: i64) -> None:
        """Add a word as everything that it is."""
        text, kinds = self.text, self.kinds
        if marks & (IS_PROPER | IS_HALF_PROPER):
            self.add_to_row(start, end, marks & IS_PROPER != 0)
        if marks & IS_PASCAL:
            kinds[PASCAL_KIND].append(text[start:end])
        elif marks & IS_CAMEL:
            kinds[CAMEL_KIND].append(text[start:end])
        elif marks & IS_SNAKE:
            kinds[SNAKE_KIND].append(text[start:end])
        if (
            marks & IS_SHORT
            and self.code_at(start - 1) != _APOSTROPHE
            and self.code_at(end) != _APOSTROPHE
        ):
            kinds[SHORT_KIND].append(text[start:end].lower())

    def add_to_row(self, start: i64, end: i64, is_proper: bool) -> None:
        """Go on with the row of proper names or begin a new one; half a name spoils its row."""
        if start != self.row_end + 1 or self.code_at(self.row_end) != _SPACE:
            self.end_row()
            self.row_start = start
            self.first_end = end
        self.row_end = end if is_proper else _NOWHERE

    def end_row(self) -> None:
        """Add the row of proper names, if there is one."""
        if self.row_end < 0:
            return
        first = self.text[self.row_start : self.first_end]
        if first not in STARTERS:
            if self.first_end == self.row_end:
                self.kinds[PROPER_KIND].append(first)
            else:
                self.kinds[PROPER_KIND].append(self.text[self.row_start : self.row_end])

    def add_numbers(self, start: i64, kind: i64) -> None:
        """Add the quantity and the version that begin with a word, a digit or `v`."""
        if self.is_dot_or(_COMMA, start - 1):
            return
        if kind == DIGIT:
            end = self.skip_digits(start)
            self.add_quantity(start, end)
            self.add_version(start, end)
        elif self.class_at(start + 1) == DIGIT:
            self.add_version(start, self.skip_digits(start + 1))

    def add_quantity(self, start: i64, end: i64) -> None:
        """Add the quantity whose first digits go from *start* to *end*, if it has a unit."""
        while self.is_dot_or(_COMMA, end) and self.class_at(end + 1) == DIGIT:
            end = self.skip_digits(end + 1)
        end = self.unit_end(start, end)
        if end > 0:
            self.kinds[QUANTITY_KIND].append(self.text[start:end])

    def unit_end(self, start: i64, place: i64) -> i64:
        """Return where the unit of the number from *start* to *place* ends, or _NOWHERE."""
        code = self.code_at(place)
        if code == _PERCENT:
            return place + 1
        if is_ideograph(code):
            return place + 2 if is_ideograph(self.code_at(place + 1)) else place + 1
        if code == _SPACE:
            place += 1
        end = place
        while self.is_letter(end) and end - place <= _LONGEST_UNIT:
            end += 1
        if self.class_at(end) > JOINT:  # some units have letters beyond ASCII; that is rare
            found = QUANTITY.match(self.text, start) if self.code_at(end) > _LAST_ASCII else None
            return _NOWHERE if found is None else found.end()
        if end > place and self.text[place:end].lower() in ASCII_UNITS:
            return end
        return _NOWHERE

    def add_version(self, start: i64, end: i64) -> None:
        """Add the version that begins at *start* and whose first digits go to *end*."""
        parts = 1
        while parts < 3 and self.code_at(end) == _DOT and self.class_at(end + 1) == DIGIT:
            end = self.skip_digits(end + 1)
            parts += 1
        if parts > 1 and self.code_at(end) != _DOT and self.class_at(end) <= JOINT:
            self.kinds[VERSION_KIND].append(self.text[start:end])

    def add_path(self, start: i64) -> None:
        """Add the path that starts there, if there is one."""
        place = start
        while self.code_at(place) == _DOT and place < start + 2:
            place += 1
        first = place + 1 if self.code_at(place) == _SLASH else start
        part = first
        last = first
        end = first
        while True:
            place = self.skip_part(part)
            if place == part:
                break
            last = part
            end = place
            if not self.is_dot_or(_SLASH, place):
                break
            part = place + 1
        if last > first and self.code_at(end) != _SLASH and self.is_extension(last, end):
            self.kinds[PATH_KIND].append(self.text[start:end])

    def skip_part(self, place: i64) -> i64:
        """Return where the part of a path ends that begins at *place*."""
        while self.class_at(place) > JOINT or self.code_at(place) == _HYPHEN:
            place += 1
        return place

    def is_extension(self, start: i64, end: i64) -> bool:
        """Tell whether a part of a path is a dot and a few ASCII letters and digits."""
        if self.code_at(start - 1) != _DOT or not self.is_letter(start):
            return False
        place = start + 1
        while place < end and FIRST_LETTER <= self.class_at(place) <= DIGIT:
            place += 1
        return place == end and end - start <= _LONGEST_EXTENSION
