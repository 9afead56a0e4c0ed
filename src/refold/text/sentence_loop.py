"""Finding sentences in one loop over the characters: fast once compiled.

It says what the patterns of `refold.text.sentences` say; the tests hold one against the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, final

from refold.text.scan import plain_bytes
from refold.text.sentence_rules import ENDINGS, LONGEST_LABEL, WRAPPED_FROM, goes_on, is_wrapped

if TYPE_CHECKING:
    from mypy_extensions import i64

Span = tuple[int, int, int]
"""Start and end of a sentence, and the number of its paragraph."""

_SPACED: Final = 1
"""The kind of mark that counts only before white space."""
_MARKS: Final = (
    (".!?…", "\"'”’)]»*_"),
    ("。！？｡﹒︒", "」』”’）》"),  # Chinese, Japanese
    ("।॥۔؟։።፧။។៕།༎", "\"'”’)]»"),  # Hindi, Urdu, Arabic, Armenian, Amharic, Burmese, Khmer, Tibetan
)
"""The marks of each kind, and what may close a sentence after them."""
_PHRASE: Final = 4
"""The kind of letter after which a space ends a phrase."""
_CLOSERS: Final = ("", *(closers for _, closers in _MARKS), "")
_KINDS: Final = {
    ord(mark): kind for kind, (marks, _) in enumerate(_MARKS, start=1) for mark in marks
}
_UNKNOWN: Final = 9
"""A question mark, or what stands in its place: any character beyond ASCII."""
_LINE_BREAK: Final = 8
_LINE_END: Final = 10
_SPACE: Final = 32
_QUESTION: Final = 63
_BYTE_KINDS: Final = bytes(
    [{**_KINDS, _QUESTION: _UNKNOWN, _LINE_END: _LINE_BREAK}.get(byte, 0) for byte in range(128)]
)
_BLANKS: Final = b" \t\r"


def loop_sentences(text: str) -> list[Span]:
    """Find the sentences of *text*, block by block; a block ends at a line break that means it."""
    cutter = _Cutter(text)
    cutter.run()
    return cutter.found


@final
class _Cutter:
    """One text and the sentences found in it so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = plain_bytes(text) + b"\n"
        """A byte for each character, and a line end behind them."""
        self.size: i64 = len(text)
        self.paragraph: i64 = 0
        self.found: list[Span] = []

    def run(self) -> None:
        """Cut the text at the marks that end sentences, and at line breaks that mean it."""
        plain, kinds = self.plain, _BYTE_KINDS
        start: i64 = 0  # of the sentence
        line: i64 = 0
        place: i64 = 0
        while place <= self.size:
            kind: i64 = kinds[plain[place]]
            if kind == _UNKNOWN:
                kind = _kind_of(ord(self.text[place]))
            if kind == 0:
                place += 1
                continue
            if kind == _LINE_BREAK:
                following = self.after_gap(place)
                if following > 0 or not self.is_wrapped(line, place):
                    self.add(start, place)
                    start = place + 1
                place += 1
                if following > 0:
                    start = place = following
                    if self.found:
                        self.paragraph += 1
                line = place
                continue
            after = self.skip_marks(place, kind)
            if kind == _PHRASE:
                place = after - 1
                if not self.is_phrase_end(after):
                    place = after
                    continue
            stop = self.skip_closers(after, kind)
            if kind == _SPACED and not self.is_space(stop):
                place = after
                continue
            if place - start >= 2 and not self.goes_on(start, place, stop, line):
                self.add(start, stop)
                start = stop
            place = stop

    def skip_marks(self, place: i64, kind: i64) -> i64:
        """Return where the marks of that *kind* end that begin at *place*."""
        place += 1
        while place < self.size and _kind_of(ord(self.text[place])) == kind:
            place += 1
        return place

    def skip_closers(self, place: i64, kind: i64) -> i64:
        """Return where what closes a sentence ends, if it begins at *place*."""
        while self.plain[place] > _SPACE and self.text[place] in _CLOSERS[kind]:
            place += 1
        return place

    def is_phrase_end(self, place: i64) -> bool:
        """Tell whether a blank or two are there, and a word of Thai or Lao behind them."""
        if self.plain[place] != _SPACE:
            return False
        place += 2 if self.plain[place + 1] == _SPACE else 1
        return place < self.size and _begins_phrase(ord(self.text[place]))

    def after_gap(self, feed: i64) -> i64:
        """Return where the next paragraph begins if the line after *feed* is blank, else 0."""
        place: i64 = feed + 1
        while place < self.size and self.plain[place] in _BLANKS:
            place += 1
        if place >= self.size or self.plain[place] != _LINE_END:
            return 0
        while place < self.size and self.is_space(place):
            place += 1
        return place

    def is_wrapped(self, line: i64, feed: i64) -> bool:
        """Say for most lines what the rule says: a small letter goes on, a sign does not."""
        if feed + 1 >= self.size:
            return False
        byte: i64 = self.plain[feed + 1]
        if 97 <= byte <= 122:
            return True
        if feed - line < WRAPPED_FROM and 33 <= byte <= 126 and byte != _QUESTION:
            return False
        return is_wrapped(self.text, line, feed, self.size)

    def goes_on(self, start: i64, mark: i64, stop: i64, line: i64) -> bool:
        """Say for most marks what the rule says: no abbreviation ends like that."""
        pair: i64 = self.plain[mark - 2] * 128 + self.plain[mark - 1]
        if not ENDINGS[pair] and stop - start > LONGEST_LABEL:
            return False
        ends_block = self.plain[stop] == _LINE_END and not self.is_wrapped(line, stop)
        return goes_on(self.text, start, mark, stop, stop if ends_block else self.size)

    def add(self, start: i64, end: i64) -> None:
        """Add the sentence without the white space around it, if anything is left."""
        while start < end and self.is_space(start):
            start += 1
        while start < end and self.is_space(end - 1):
            end -= 1
        if start < end:
            self.found.append((start, end, self.paragraph))

    def is_space(self, place: i64) -> bool:
        """Tell whether there is white space."""
        byte: i64 = self.plain[place]
        return is_space(ord(self.text[place])) if byte == _QUESTION else is_space(byte)


def _kind_of(code: i64) -> i64:
    """Return which kind of mark a character is, or 0."""
    if 0x3003 <= code <= 0xFE11 or code > 0xFFFF:  # an ideograph, Hangul or emoji
        return 0
    if 0x0E01 <= code <= 0x0ECF:
        return _PHRASE if code <= 0x0E4E or code >= 0x0E81 else 0
    return _KINDS.get(code, 0)


def _begins_phrase(code: i64) -> bool:
    """Tell whether a word of Thai or Lao can begin with a character; Lao follows 128 later."""
    letter = code - 128 if code >= 0x0E81 else code
    return 0x0E01 <= letter <= 0x0E30 or 0x0E40 <= letter <= 0x0E45


def is_space(code: i64) -> bool:
    """Tell whether a character is white space."""
    if code < 128:
        return code == _SPACE or 9 <= code <= 13 or 28 <= code <= 31
    return code <= 0x3000 and chr(code).isspace()
