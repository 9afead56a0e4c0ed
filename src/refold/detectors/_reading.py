"""Reading a text once, character by character, for all detectors.

What is noted here is what the gates of the detectors look for one by one: which characters there
are, words and pairs of words, long runs, numbers, how lines begin and end. Each note says "there
may be", never "there is".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from refold.detectors import _signs as signs
from refold.detectors import _terms as terms
from refold.detectors._kinds import (
    BLANK,
    COLON,
    DIGIT,
    DOLLAR,
    END,
    FOREIGN_CAPITAL,
    FOREIGN_LETTER,
    FOREIGN_MATH,
    FOREIGN_QUESTION,
    FOREIGN_QUOTE,
    FOREIGN_STOP,
    FOREIGN_THEREFORE,
    JOINT,
    KINDS,
    LETTER,
    LINE_END,
    OTHER,
    PLUS,
    QUESTION,
    SLASH,
    SPECIAL,
    STOP,
    foreign_kind,
)
from refold.detectors._numbers import Numbers
from refold.detectors._runs import DATA_LENGTH, DATA_RUN, KEY_LENGTH, KEY_RUN
from refold.detectors._terms import SLOT_MASK, TERMS, TRACE_MASK, TRACE_SHIFT, pair_trace, slot_of

if TYPE_CHECKING:
    from mypy_extensions import i64

# How the detectors measure what they look for.
_CODE_INDENT: Final = 4
_MAX_YAML_KEY: Final = 64
_MAX_YAML_INDENT: Final = 16
_MAX_LABEL_GAP: Final = 8


@final
class Reading:
    """What has been seen of a text so far."""

    def __init__(self, text: str, plain: bytes) -> None:
        self.text = text
        self.plain = plain
        self.kinds = plain.translate(KINDS) + b"\x00\x00"
        """What each character is; the end comes last, twice for those who look ahead."""
        self.size: i64 = len(plain)
        self.numbers = Numbers(text, plain, self.kinds)
        self.signs: i64 = 0
        """The signs that need nothing more to be known."""
        self.words: i64 = 0
        """The bits of the terms."""
        self.has_disguise = False
        """Whether a character beyond ASCII may stand for a letter in one of them."""
        self.present: i64 = 0
        """Which kinds of signs there are, a bit each."""
        self.special: i64 = 0
        """How many special characters there are."""
        self.stop: i64 = -1
        """Where the last sentence ended."""
        self.line: i64 = 0
        """Where the line begins."""
        self.indent: i64 = 0
        """Where its indent ends."""
        self.breaks: i64 = 0
        """How many lines have ended."""
        self.squares: i64 = 0
        """The sum of the squares of their lengths."""

    def read(self) -> None:
        """Read the text from its beginning to its end."""
        kinds, slots = self.kinds, TERMS.slots
        fold: i64 = TERMS.fold
        twice: i64 = 2 * fold
        thrice: i64 = 3 * fold
        size: i64 = self.size
        place: i64 = self.begin_line(0)
        start: i64 = place  # of the word
        run: i64 = place  # where what may be a key or encoded data began
        trace: i64 = 0  # of the letters of the word
        before: i64 = 0  # the trace of the word before
        before_end: i64 = -1
        while place <= size:
            kind: i64 = kinds[place]
            while kind >= LETTER:
                trace = (trace << TRACE_SHIFT ^ kind) & TRACE_MASK
                place += 1
                kind = kinds[place]
            if trace:
                slot: i64 = trace ^ trace >> fold ^ trace >> twice ^ trace >> thrice  # `slot_of`
                number: i64 = slots[slot & SLOT_MASK]
                if number:
                    if before_end != start - 1 or kinds[before_end] != BLANK:
                        before = 0
                    self.end_term(number, trace, before, start, place)
                before = trace
                before_end = place
                trace = 0
            if kind == DIGIT:
                place = start = self.numbers.read(place, self.indent)
                continue
            if kind < JOINT or kind > PLUS:
                if place - run >= KEY_LENGTH:
                    self.end_run(run, place)
                if kind == COLON and run == self.indent:
                    self.end_key(place)
                run = place + 1
            if kind == LINE_END:
                self.end_line(place)
                place = start = run = self.begin_line(place + 1)
                continue
            if kind == QUESTION:
                self.pass_foreign(place)
            elif kind != BLANK:
                self.pass_sign(kind, place)
            place += 1
            start = place
        length: i64 = size - self.line
        self.squares += length * length

    def end_term(self, number: i64, trace: i64, before: i64, start: i64, end: i64) -> None:
        """Take note of a word that may be a term, and of the pair with the word before."""
        traces, bits = TERMS.traces, TERMS.bits
        if traces[number] != trace:
            return
        found: i64 = bits[number]
        if before:
            pair: i64 = pair_trace(before, trace)
            number = TERMS.slots[slot_of(pair, TERMS.fold)]
            if traces[number] == pair:
                found |= bits[number]
        if found & terms.STATUS:
            self.numbers.reply_end = end
        if found & terms.LABEL and not self.is_label(end):
            found -= terms.LABEL
        if found & terms.FRAME and not self.is_frame(start, end):
            found -= terms.FRAME
        self.words |= found

    def is_label(self, place: i64) -> bool:
        """Tell whether a colon may follow a word, perhaps after some white space."""
        kinds = self.kinds
        limit: i64 = min(self.size, place + _MAX_LABEL_GAP)
        kind: i64 = kinds[place]
        while place < limit and kind in (BLANK, LINE_END, OTHER, QUESTION):
            place += 1
            kind = kinds[place]
        return kind == COLON

    def is_frame(self, start: i64, end: i64) -> bool:
        """Tell whether "at" begins an indented line and may name a function or a place in a file.

        A parenthesis comes right after the name, or one with a colon in it somewhere.
        """
        if start != self.indent or start == self.line:
            return False
        kinds = self.kinds
        place: i64 = end + 1
        kind: i64 = kinds[place]
        while kind >= LETTER or kind in (DIGIT, JOINT, STOP, DOLLAR):
            place += 1
            kind = kinds[place]
        if kind == SPECIAL and place > end + 1:
            return True
        while kind not in (END, LINE_END, COLON):
            place += 1
            kind = kinds[place]
        return kind == COLON

    def end_run(self, start: i64, end: i64) -> None:
        """Take note of a long run, if it is one of the characters of keys or of those of data."""
        run = self.plain[start:end]
        if KEY_RUN.holds(run):
            self.signs |= signs.API_KEY
        if end - start >= DATA_LENGTH and DATA_RUN.holds(run):
            self.signs |= signs.BASE64_CONTENT | signs.HASH_OR_SHA

    def end_key(self, colon: i64) -> None:
        """Take note of a key that begins a line, if it is not the first one."""
        indent: i64 = self.indent - self.line
        length: i64 = colon - self.indent
        if self.line and indent <= _MAX_YAML_INDENT and 1 <= length <= _MAX_YAML_KEY:
            after: i64 = self.kinds[colon + 1]
            if after in (BLANK, LINE_END, END, OTHER):
                self.signs |= signs.YAML_STRUCTURE

    def pass_sign(self, kind: i64, place: i64) -> None:
        """Take note of a character that is no letter, no digit, no blank and in ASCII."""
        self.present |= 1 << kind
        if kind >= PLUS:
            self.special += 1
        elif kind == STOP:
            self.stop = place
        elif kind == SLASH and self.kinds[place - 1] == SLASH and self.kinds[place - 2] == COLON:
            self.signs |= signs.URL

    def pass_foreign(self, place: i64) -> None:
        """Take note of a character beyond ASCII, or of a question mark."""
        kind: i64 = foreign_kind(self.text, place)
        if kind in (FOREIGN_QUESTION, FOREIGN_STOP):
            self.stop = place
        elif kind == FOREIGN_MATH:
            self.signs |= signs.UNICODE_MATH
        elif kind == FOREIGN_QUOTE:
            self.signs |= signs.DIRECT_QUOTE
        elif kind == FOREIGN_THEREFORE:
            self.signs |= signs.REASONING_CHAIN
        elif kind == FOREIGN_LETTER:
            self.has_disguise = True

    def begin_line(self, start: i64) -> i64:
        """Take note of the indent of a line, and return where it ends."""
        kinds = self.kinds
        place: i64 = start
        while kinds[place] == BLANK:
            place += 1
        width: i64 = place - start
        if start and (width >= _CODE_INDENT or (width and self.plain[start] in b"\t")):
            self.signs |= signs.INDENTED_CODE
        self.line = start
        self.indent = place
        return place

    def end_line(self, end: i64) -> None:
        """Take note of the length of a line, and whether it may be verse with the next one."""
        start: i64 = self.line
        length: i64 = end - start
        self.squares += length * length
        self.breaks += 1
        if start and self.stop < start and self.is_capital(start) and self.is_capital(end + 1):
            self.signs |= signs.VERSE_PATTERN

    def is_capital(self, place: i64) -> bool:
        """Tell whether a capital letter stands there."""
        kind: i64 = self.kinds[place]
        if kind == QUESTION:
            return foreign_kind(self.text, place) == FOREIGN_CAPITAL
        return kind >= LETTER and kind != self.plain[place]
