"""Finding sentences in one loop over the characters: fast once compiled.

It says what the patterns of `refold.text.sentences` say; the tests hold one against the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from refold.text.sentence_rules import goes_on, is_wrapped

if TYPE_CHECKING:
    from mypy_extensions import i64

Span = tuple[int, int, int]
"""Start and end of a sentence, and the number of its paragraph."""

_SPACED: Final = 1
"""The kind of mark that counts only before white space."""
_MARKS: Final = (
    (".!?…", "\"'”’)]»*_"),
    ("。！？｡﹒︒", "」』”’）》"),  # Chinese, Japanese
    ("।॥۔؟։።", "\"'”’)]»"),  # Hindi, Urdu, Arabic, Armenian, Amharic
)
"""The marks of each kind, and what may close a sentence after them."""
_CLOSERS: Final = ("", *(closers for _, closers in _MARKS))
_ASCII_MARKS: Final = bytes(_SPACED * (chr(code) in ".!?") for code in range(128))
_OTHER_MARKS: Final = {
    ord(mark): kind for kind, (marks, _) in enumerate(_MARKS, start=1) for mark in marks
}


def loop_sentences(text: str) -> list[Span]:
    """Find the sentences of *text*, block by block; a block ends at a line break that means it."""
    found: list[Span] = []
    size: i64 = len(text)
    paragraph: i64 = 0
    first: i64 = 0
    line: i64 = 0
    while line <= size:
        feed: i64 = text.find("\n", line)
        if feed < 0:
            feed = size
        following = _after_gap(text, feed)
        if following > 0 or not _is_wrapped(text, line, feed):
            _cut_block(found, text, first, feed, paragraph)
            first = feed + 1
        line = feed + 1
        if following > 0:
            first = line = following
            if found:
                paragraph += 1
    return found


def _after_gap(text: str, feed: i64) -> i64:
    """Return where the next paragraph begins if the line after *feed* is blank, else 0."""
    size: i64 = len(text)
    place: i64 = feed + 1
    while place < size and _is_blank(ord(text[place])):
        place += 1
    if place >= size or ord(text[place]) != 10:
        return 0
    while place < size and is_space(ord(text[place])):
        place += 1
    return place


def _is_wrapped(text: str, line: i64, feed: i64) -> bool:
    """Say for most lines what `is_wrapped` says: a small letter goes on, a sign does not."""
    size: i64 = len(text)
    if feed + 1 < size:
        code: i64 = ord(text[feed + 1])
        if 97 <= code <= 122:
            return True
        if feed - line < 60 and 33 <= code <= 126:
            return False
    return is_wrapped(text, line, feed, size)


def _cut_block(found: list[Span], text: str, first: i64, last: i64, paragraph: i64) -> None:
    """Cut a block at the marks that end sentences."""
    marks = _ASCII_MARKS
    start: i64 = first
    place: i64 = first
    while place < last:
        code: i64 = ord(text[place])
        kind: i64 = 0
        if code < 128:
            kind = marks[code]
        elif code < 0x3003 or code > 0xFE11:  # neither an ideograph nor Hangul
            kind = _kind_of(code)
        if kind == 0:
            place += 1
            continue
        after: i64 = place + 1  # behind the marks
        while after < last and _kind_of(ord(text[after])) == kind:
            after += 1
        stop: i64 = after  # behind what closes
        while stop < last and not is_space(ord(text[stop])) and text[stop] in _CLOSERS[kind]:
            stop += 1
        if kind == _SPACED and stop < last and not is_space(ord(text[stop])):
            place = after
            continue
        if place - start >= 2 and not goes_on(text, start, place, stop, last):
            _add(found, text, start, stop, paragraph)
            start = stop
        place = stop
    _add(found, text, start, last, paragraph)


def _add(found: list[Span], text: str, start: i64, end: i64, paragraph: i64) -> None:
    """Add the sentence without the white space around it, if anything is left."""
    while start < end and is_space(ord(text[start])):
        start += 1
    while start < end and is_space(ord(text[end - 1])):
        end -= 1
    if start < end:
        found.append((start, end, paragraph))


def _kind_of(code: i64) -> i64:
    """Return which kind of mark a character is, or 0."""
    return _ASCII_MARKS[code] if code < 128 else _OTHER_MARKS.get(code, 0)


def _is_blank(code: i64) -> bool:
    return code in (9, 13, 32)


def is_space(code: i64) -> bool:
    """Tell whether a character is white space."""
    if code < 128:
        return code == 32 or 9 <= code <= 13 or 28 <= code <= 31
    return chr(code).isspace()
