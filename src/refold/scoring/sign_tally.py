"""Adding up the points of a sentence while it is read, run by run.

A run is a stretch of word characters. What reaches over several runs, a place in a file or the name
of an error, takes back the points that its parts have got.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from refold.scoring.sign_tables import CAPS, JOINT, QUANTITY, STATUS, WORTHS
from refold.scoring.signs import IN_PHRASE, STATUSES, TELLING, flag_points, phrase_flags

if TYPE_CHECKING:
    from mypy_extensions import i64

# Numbers are written out where they are used in the loop: only those are fast.
_QUANTITY_POINTS: Final = 2
_PLACE_POINTS: Final = 2
_ERROR_POINTS: Final = 6
_ERROR_ENDS: Final = frozenset(("Error", "rning", "ption"))
_SHORTEST_WORD: Final = 4
"""No telling word and no status is shorter."""
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


def _trace(text: str, start: i64, end: i64) -> i64:
    """Return a number by which to tell words apart: of the first letter, the third, the last."""
    first: i64 = ord(text[start]) | 32
    third: i64 = ord(text[start + 2]) | 32
    last: i64 = ord(text[end - 1]) | 32
    return (first * 961 + third * 31 + last) & 4095


def _trace_table() -> bytes:
    table = bytearray(4096)
    for word in TELLING:
        table[_trace(word, 0, len(word))] = 1
    return bytes(table)


_TRACES: Final = _trace_table()
"""Marks the traces of telling words: what has another one is none of them."""


class Tally:
    """The points of one sentence after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._start: i64 = 0
        self._end: i64 = 0
        self._points: i64 = 0
        self._flags: i64 = 0
        self._opened: i64 = 0
        """Where the run began."""
        self._held: i64 = 0
        """The points before it."""
        self._first: i64 = 0
        """Where a sign may begin in the run: where it began, or after an ideograph."""
        self._step: i64 = _NOTHING
        self._before_place: i64 = 0
        self._before_number: i64 = 0
        """The points before a line number: it may be the first part of another place."""
        self._before_error: i64 = -1
        """The points before what may be an error; less than 0 where nothing may be one."""

    def begin(self, start: i64, end: i64) -> None:
        """Begin with the sentence from *start* to *end*."""
        self._start = start
        self._end = end
        self._points = self._held = self._flags = 0
        self._opened = self._first = start
        self._step = _NOTHING
        self._before_error = -1

    def signs(self) -> i64:
        """Return the points of the sentence without those for emphasis and inference."""
        return self._points

    def total(self) -> i64:
        """Return the points of the sentence."""
        if self._flags == 0:
            return self._points
        return self._points + flag_points(self._text, self._start, self._end, self._flags)

    def add_ideograph(self, state: i64, place: i64) -> None:
        """Take an ideograph, which belongs to a run, but lets a sign begin after it."""
        if state == QUANTITY:
            self._points += _QUANTITY_POINTS
        elif place > self._first:
            self._note_capital()
        self._first = place + 1

    def add_quantity(self) -> None:
        """Take a number and the next word, its unit, with which nothing else can begin."""
        self._points += _QUANTITY_POINTS
        self._step = _NO_PLACE
        self._before_error = -1

    def close_run(self, state: i64, place: i64, kind: i64) -> None:
        """Take what stands at *place* between two runs; the one before it ended in *state*."""
        size: i64 = place - self._first
        if size >= _SHORTEST_WORD:
            if self._first == self._opened and _TRACES[_trace(self._text, self._first, place)]:
                self._note_word(place)
            if state == CAPS and size <= _LONGEST_STATUS and self._is_status(place):
                state = STATUS
        if kind == JOINT:
            if place > self._opened:
                if state != STATUS:
                    self._note_capital()
                self._add_part(place)
            self._points += WORTHS[state]
            self._join(place)
        else:
            self._points += WORTHS[state]
            self._step = _NOTHING
            self._before_error = -1
        self._held = self._points
        self._opened = self._first = place + 1

    def _note_word(self, end: i64) -> None:
        """See whether a word emphasizes or infers."""
        said = self._text[self._first : end].lower()
        flags: i64 = TELLING.get(said, 0)
        if flags == IN_PHRASE:
            flags = phrase_flags(self._text, self._start, self._first, said, self._end)
        self._flags |= flags

    def _is_status(self, end: i64) -> bool:
        return self._text[self._first : end] in STATUSES

    def _note_capital(self) -> None:
        """Remember where something with a capital began: it may be an error."""
        if self._before_error < 0 and 65 <= ord(self._text[self._first]) <= 90:
            self._before_error = self._points

    def _add_part(self, end: i64) -> None:
        """Take the run as a part of a place."""
        if self._step == _AFTER_DOT:
            self._step = _LATER_PART
        elif self._step == _AFTER_COLON and self._is_number(end):
            self._step = _LINE_NUMBER
            self._before_number = self._held
        elif self._step in (_NOTHING, _AFTER_COLON):
            self._step = _FIRST_PART
            self._before_place = self._held

    def _is_number(self, end: i64) -> bool:
        place: i64 = self._opened
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
            self._before_place = self._points

    def _join_colon(self, place: i64) -> None:
        """Take a colon, which ends errors and places."""
        if self._before_error >= 0 and self._text[place - 5 : place] in _ERROR_ENDS:
            self._points = self._before_error + _ERROR_POINTS
        self._before_error = -1
        if self._step == _LINE_NUMBER:
            self._points = self._before_place + _PLACE_POINTS
        self._step = _AFTER_COLON if self._step == _LATER_PART else _NOTHING
