"""Adding up the points of a sentence while it is read, run by run.

A run is a stretch of word characters. What reaches over several runs, a place in a file or the name
of an error, takes back the points that its parts have got.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from refold.scoring.sign_tables import CAPS, DISGUISED, QUANTITY, STATUS, WORTHS
from refold.scoring.signs import (
    IN_PHRASE,
    SHORT,
    STATUSES,
    TELLING,
    flag_points,
    phrase_flags,
)
from refold.text.scan import undisguised

if TYPE_CHECKING:
    from mypy_extensions import i64

# Numbers are written out where they are used in the loop: only those are fast.
_QUANTITY_POINTS: Final = 2
_PLACE_POINTS: Final = 2
_ERROR_POINTS: Final = 6
_ERROR_ENDS: Final = frozenset(("Error", "rning", "ption"))
_SHORT_POINTS: Final = 2
SHORTEST_SHORT: Final = 3
_SHORTEST_WORD: Final = 4
_LONGEST_WORD: Final = 12
"""No telling word is shorter or longer."""
_LONGEST_STATUS: Final = 7
_DOT: Final = 46
_COLON: Final = 58

# How far something like src/app.py:12: has come.
_NOTHING: Final = 0
_FIRST_PART: Final = 1
_AFTER_DOT: Final = 2
_LATER_PART: Final = 3
_AFTER_COLON: Final = 4
_LINE_NUMBER: Final = 5
_NO_PLACE: Final = 6


def letters_of(plain: bytes, start: i64, end: i64) -> i64:
    """Return a bit for each letter of a word, whatever its case."""
    letters: i64 = 0
    place: i64 = start
    while place < end:
        byte: i64 = plain[place]
        letters |= 1 << (byte & 31)
        place += 1
    return letters


def trace_of(letters: i64) -> i64:
    """Return a small number by which to tell words of other letters apart."""
    return (letters * 0x9E3779B1 >> 20) & 4095


def _trace_table() -> bytes:
    table = bytearray(4096)
    for word in TELLING:
        table[trace_of(letters_of(word.encode(), 0, len(word)))] = 1
    return bytes(table)


TRACES: Final = _trace_table()
"""Marks the traces of telling words: what has another one is none of them."""


class Tally:
    """The points of one sentence after the other.

    A run begins where it is *opened*; *first* is where a sign may begin in it, which is there or
    after an ideograph.
    """

    def __init__(self, text: str, plain: bytes) -> None:
        self._text = text
        self._plain = plain
        self.start: i64 = 0
        self._end: i64 = 0
        self.points: i64 = 0
        """Of the sentence, without those for emphasis and inference."""
        self._flags: i64 = 0
        self._held: i64 = 0
        """The points before the run."""
        self._step: i64 = _NOTHING
        self._before_place: i64 = 0
        self._before_number: i64 = 0
        """The points before a line number: it may be the first part of another place."""
        self._before_error: i64 = -1
        """The points before what may be an error; less than 0 where nothing may be one."""

    def begin(self, start: i64, end: i64) -> None:
        """Begin with the sentence from *start* to *end*."""
        self.start = start
        self._end = end
        self.points = self._held = self._flags = 0
        self._step = _NOTHING
        self._before_error = -1

    def total(self) -> i64:
        """Return the points of the sentence."""
        if self._flags == 0:
            return self.points
        return self.points + flag_points(self._text, self.start, self._end, self._flags)

    def note_word(self, start: i64, end: i64) -> None:
        """See whether a word emphasizes or infers."""
        self._note(self._text[start:end].lower(), start)

    def _note(self, word: str, start: i64) -> None:
        flags: i64 = TELLING.get(word, 0)
        if flags == IN_PHRASE:
            flags = phrase_flags(self._text, self.start, start, word, self._end)
        self._flags |= flags

    def add_ideograph(self, state: i64, first: i64, place: i64) -> None:
        """Take an ideograph, which belongs to a run, but lets a sign begin after it."""
        if state == QUANTITY:
            self.points += _QUANTITY_POINTS
        elif place > first:
            self._note_capital(first)

    def add_quantity(self) -> None:
        """Take a number and the next word, its unit, with which nothing else can begin."""
        self.points += _QUANTITY_POINTS
        self._step = _NO_PLACE
        self._before_error = -1

    def add_short(self) -> None:
        """Take an abbreviation that is a run of its own."""
        self.points += _SHORT_POINTS
        self._held = self.points

    def end_run(self, state: i64, opened: i64, first: i64, end: i64) -> None:
        """Take a run that ended in *state* and has nothing to do with the next one."""
        self.points += self._worth(state, opened, first, end)
        self._held = self.points
        self._step = _NOTHING
        self._before_error = -1

    def join_run(self, state: i64, opened: i64, first: i64, end: i64) -> None:
        """Take a run that ended in *state*, and the dot, slash, dash or colon at its *end*."""
        worth: i64 = self._worth(state, opened, first, end)
        if end > opened:
            if state != CAPS or not worth:
                self._note_capital(first)
            self._add_part(opened, end)
        self.points += worth
        self._join(end)
        self._held = self.points

    def _worth(self, state: i64, opened: i64, first: i64, end: i64) -> i64:
        """Return the points for a run alone, and see whether it emphasizes or infers."""
        size: i64 = end - first
        may_tell = first == opened and _SHORTEST_WORD <= size <= _LONGEST_WORD
        if state == DISGUISED:
            if may_tell:
                self._note(undisguised(self._text[first:end]).lower(), first)
            is_short = size >= SHORTEST_SHORT and SHORT.fullmatch(self._text, first, end)
            return _SHORT_POINTS if is_short else 0
        if may_tell and TRACES[trace_of(letters_of(self._plain, first, end))]:
            self.note_word(first, end)
        if state == CAPS:
            return WORTHS[STATUS] if self._is_status(first, end) else 0
        return WORTHS[state]

    def _is_status(self, start: i64, end: i64) -> bool:
        return end - start <= _LONGEST_STATUS and self._text[start:end] in STATUSES

    def _note_capital(self, first: i64) -> None:
        """Remember where something with a capital began: it may be an error."""
        if self._before_error < 0 and 65 <= ord(self._text[first]) <= 90:
            self._before_error = self.points

    def _add_part(self, start: i64, end: i64) -> None:
        """Take the run as a part of a place."""
        if self._step == _AFTER_DOT:
            self._step = _LATER_PART
        elif self._step == _AFTER_COLON and self._is_number(start, end):
            self._step = _LINE_NUMBER
            self._before_number = self._held
        elif self._step in (_NOTHING, _AFTER_COLON):
            self._step = _FIRST_PART
            self._before_place = self._held

    def _is_number(self, start: i64, end: i64) -> bool:
        place: i64 = start
        while place < end and 48 <= ord(self._text[place]) <= 57:
            place += 1
        return place == end

    def _join(self, place: i64) -> None:
        """Take a dot, slash, dash or colon between parts."""
        sign: i64 = ord(self._text[place])
        if sign == _COLON:
            self._join_colon(place)
            return
        if self._step == _LINE_NUMBER:
            self._step = _FIRST_PART
            self._before_place = self._before_number
        if sign == _DOT:
            is_after_part = self._step in (_FIRST_PART, _LATER_PART)
            self._step = _AFTER_DOT if is_after_part else _NO_PLACE
            return
        self._before_error = -1
        if self._step == _AFTER_DOT:
            self._step = _LATER_PART
        elif self._step in (_NOTHING, _AFTER_COLON):
            self._step = _FIRST_PART
            self._before_place = self.points

    def _join_colon(self, place: i64) -> None:
        """Take a colon, which ends errors and places."""
        if self._before_error >= 0 and self._text[place - 5 : place] in _ERROR_ENDS:
            self.points = self._before_error + _ERROR_POINTS
        self._before_error = -1
        if self._step == _LINE_NUMBER:
            self.points = self._before_place + _PLACE_POINTS
        self._step = _AFTER_COLON if self._step == _LATER_PART else _NOTHING
