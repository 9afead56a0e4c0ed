r"""Finding names in one loop over the characters, which only a compiler makes fast.

It says what the patterns of `name_patterns` say, for these reasons:

- Identifiers, abbreviations and proper names begin and end with a word, a run of `\w`. An automaton
  reads each word as the loop goes along, and at the end of the word knows what it is.
- Quantities and versions begin with a word, or with a digit after an ideograph.
- Paths begin with a run of letters, dots, slashes and hyphens, so there is at most one in a run. It
  is looked for when the loop comes to a dot before a letter, for every path has an extension.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

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
    IS_CAMEL,
    IS_HALF_PROPER,
    IS_PASCAL,
    IS_PROPER,
    IS_SHORT,
    IS_SNAKE,
    JOINT,
    OUTSIDE,
    TABLE_SIZE,
    NameTables,
    far_class,
    is_ideograph,
    name_tables,
)
from refold.text.scan import VOWELS, plain_bytes

if TYPE_CHECKING:
    from mypy_extensions import i64

_SPACE: Final = 0x20
_PERCENT: Final = 0x25
_APOSTROPHE: Final = 0x27
_COMMA: Final = 0x2C
_HYPHEN: Final = 0x2D
_DOT: Final = 0x2E
_SLASH: Final = 0x2F
_QUESTION: Final = 0x3F
_SMALL_V: Final = 0x76
_NOWHERE: Final = -1
_SHORTEST_SHORT: Final = 3
_LONGEST_UNIT: Final = 9
_LONGEST_EXTENSION: Final = 6


class LoopNames:
    """Finds the names in texts."""

    def __init__(self) -> None:
        self._tables = name_tables()
        self._known: dict[str, str] = {}
        """Most names come again: one string for each of them is all that stays in memory."""

    def read(self, text: str) -> list[list[str]]:
        """Return the names in *text* that the patterns of words find, a list for each kind."""
        reading = _Reading(text, self._tables, self._known)
        reading.run()
        return reading.kinds


@final
class _Reading:
    """One text and the names found in it so far."""

    def __init__(self, text: str, tables: NameTables, known: dict[str, str]) -> None:
        self.text = text
        self.plain = plain_bytes(text) + b"\n"
        """A byte for each character, and one more that is before the first and after the last."""
        self.tables = tables
        self.classes = tables.classes
        self.known = known
        self.kinds: list[list[str]] = [[] for _ in range(KIND_COUNT)]
        self.row_start: i64 = _NOWHERE
        self.first_end: i64 = _NOWHERE
        self.row_end: i64 = _NOWHERE
        """A row of proper names that may go on: where it starts, and its first and last end."""

    def run(self) -> None:
        """Read the text from beginning to end.

        Most words are small letters with or without a capital, which can be told from their letters
        alone: they are proper names, abbreviations or nothing.
        """
        plain, classes = self.plain, self.classes
        size: i64 = len(self.text)
        place: i64 = 0
        path_start: i64 = 0  # where the last run began that may be a path
        while place < size:
            start: i64 = place
            letters: i64 = 0
            byte: i64 = plain[place]
            is_capital = 65 <= byte <= 90
            if is_capital:
                letters = 1 << (byte & 31)
                place += 1
                byte = plain[place]
            while 97 <= byte <= 122:
                letters |= 1 << (byte & 31)
                place += 1
                byte = plain[place]
            kind: i64 = classes[byte]
            if byte == _QUESTION:
                kind = self.class_at(place)
            if kind > JOINT:
                place = self.read_word(start)
                continue
            if is_capital and place > start + 1:
                self.add_to_row(start, place, is_proper=True)
            if not letters & VOWELS and place - start >= _SHORTEST_SHORT:
                self.add_short(start, place)
            if kind == BREAK:
                path_start = place + 1
            elif byte == _DOT and path_start >= 0 and self.is_letter(place + 1):
                self.add_path(path_start)
                path_start = _NOWHERE
            place += 1
        self.end_row()

    def read_word(self, start: i64) -> i64:
        """Read a word of any kind, and return where it ends."""
        plain, classes = self.plain, self.classes
        steps, marks = self.tables.steps, self.tables.marks
        state: i64 = OUTSIDE
        place: i64 = start
        while True:
            byte: i64 = plain[place]
            kind: i64 = classes[byte]
            if byte == _QUESTION:
                kind = self.class_at(place)
            if kind <= JOINT:
                break
            if kind == DIGIT or byte == _SMALL_V:
                if place == start:
                    self.add_numbers(start, kind)
                elif kind == DIGIT and marks[state] & ENDS_IN_IDEOGRAPH:
                    self.add_quantity(place, self.skip_digits(place))
            state = steps[state * 16 + kind]
            place += 1
        mark: i64 = marks[state]
        if mark:
            self.add_word(start, place, mark)
        return place

    def class_at(self, place: i64) -> i64:
        """Return the class of a character."""
        code: i64 = self.plain[place]
        if code == _QUESTION:
            code = ord(self.text[place])
        if code >= TABLE_SIZE:
            return far_class(code)
        return self.classes[code]

    def is_dot_or(self, other: i64, place: i64) -> bool:
        """Tell whether there is a dot or the *other* character."""
        byte: i64 = self.plain[place]
        return byte in (_DOT, other)

    def is_letter(self, place: i64) -> bool:
        """Tell whether there is an ASCII letter."""
        byte: i64 = self.plain[place]
        return 97 <= byte | 32 <= 122

    def skip_digits(self, place: i64) -> i64:
        """Return where the digits end that begin at *place*."""
        while self.is_digit(place):
            place += 1
        return place

    def is_digit(self, place: i64) -> bool:
        """Tell whether there is a digit."""
        byte: i64 = self.plain[place]
        return 48 <= byte <= 57

    def add(self, kind: int, name: str) -> None:
        """Add a name, or the same one that was found before."""
        self.kinds[kind].append(self.known.setdefault(name, name))

    def add_word(self, start: i64, end: i64, marks: i64) -> None:
        """Add a word as everything that it is."""
        if marks & (IS_PROPER | IS_HALF_PROPER):
            self.add_to_row(start, end, is_proper=marks & IS_PROPER != 0)
        if marks & IS_PASCAL:
            self.add(PASCAL_KIND, self.text[start:end])
        elif marks & IS_CAMEL:
            self.add(CAMEL_KIND, self.text[start:end])
        elif marks & IS_SNAKE:
            self.add(SNAKE_KIND, self.text[start:end])
        if marks & IS_SHORT:
            self.add_short(start, end)

    def add_short(self, start: i64, end: i64) -> None:
        """Add an abbreviation, unless it is a part of a word with an apostrophe."""
        if self.plain[start - 1] != _APOSTROPHE and self.plain[end] != _APOSTROPHE:
            self.add(SHORT_KIND, self.text[start:end].lower())

    def add_to_row(self, start: i64, end: i64, *, is_proper: bool) -> None:
        """Go on with the row of proper names or begin a new one; half a name spoils its row."""
        if start != self.row_end + 1 or self.plain[self.row_end] != _SPACE:
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
                self.add(PROPER_KIND, first)
            else:
                self.add(PROPER_KIND, self.text[self.row_start : self.row_end])

    def add_numbers(self, start: i64, kind: i64) -> None:
        """Add the quantity and the version that begin with a word, a digit or `v`."""
        if self.is_dot_or(_COMMA, start - 1):
            return
        if kind == DIGIT:
            end = self.skip_digits(start)
            self.add_quantity(start, end)
            self.add_version(start, end)
        elif self.is_digit(start + 1):
            self.add_version(start, self.skip_digits(start + 1))

    def add_quantity(self, start: i64, end: i64) -> None:
        """Add the quantity whose first digits go from *start* to *end*, if it has a unit."""
        while self.is_dot_or(_COMMA, end) and self.is_digit(end + 1):
            end = self.skip_digits(end + 1)
        end = self.unit_end(start, end)
        if end > 0:
            self.add(QUANTITY_KIND, self.text[start:end])

    def unit_end(self, start: i64, place: i64) -> i64:
        """Return where the unit of the number from *start* to *place* ends, or _NOWHERE."""
        byte: i64 = self.plain[place]
        if byte == _PERCENT:
            return place + 1
        if byte == _QUESTION and self.is_ideograph(place):
            return place + 2 if self.is_ideograph(place + 1) else place + 1
        if byte == _SPACE:
            place += 1
        end = place
        while self.is_letter(end) and end - place <= _LONGEST_UNIT:
            end += 1
        if self.class_at(end) > JOINT:  # some units have letters beyond ASCII; that is rare
            found = QUANTITY.match(self.text, start) if self.plain[end] == _QUESTION else None
            return _NOWHERE if found is None else found.end()
        if end > place and self.text[place:end].lower() in ASCII_UNITS:
            return end
        return _NOWHERE

    def is_ideograph(self, place: i64) -> bool:
        """Tell whether there is an ideograph."""
        return place < len(self.text) and is_ideograph(ord(self.text[place]))

    def add_version(self, start: i64, end: i64) -> None:
        """Add the version that begins at *start* and whose first digits go to *end*."""
        parts = 1
        while parts < 3 and self.plain[end] == _DOT and self.is_digit(end + 1):
            end = self.skip_digits(end + 1)
            parts += 1
        if parts > 1 and self.plain[end] != _DOT and self.class_at(end) <= JOINT:
            self.add(VERSION_KIND, self.text[start:end])

    def add_path(self, start: i64) -> None:
        """Add the path that starts there, if there is one."""
        place = start
        while self.plain[place] == _DOT and place < start + 2:
            place += 1
        first = place + 1 if self.plain[place] == _SLASH else start
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
        if last > first and self.plain[end] != _SLASH and self.is_extension(last, end):
            self.add(PATH_KIND, self.text[start:end])

    def skip_part(self, place: i64) -> i64:
        """Return where the part of a path ends that begins at *place*."""
        while self.class_at(place) > JOINT or self.plain[place] == _HYPHEN:
            place += 1
        return place

    def is_extension(self, start: i64, end: i64) -> bool:
        """Tell whether a part of a path is a dot and a few ASCII letters and digits."""
        if self.plain[start - 1] != _DOT or not self.is_letter(start):
            return False
        place = start + 1
        while place < end and (self.is_letter(place) or self.is_digit(place)):
            place += 1
        return place == end and end - start <= _LONGEST_EXTENSION
