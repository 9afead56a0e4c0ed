"""Cutting prose into paragraphs and sentences, in any language."""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import Final, NamedTuple

MARKS: Final = (
    (".!?…", "\"'”’)]»*_"),  # before white space only: 3.5, config.prod.json
    ("。！？｡﹒︒", "」』”’）》"),  # Chinese, Japanese: no spaces
    ("।॥۔؟։።፧။។៕།༎", "\"'”’)]»"),  # Hindi, Urdu, Arabic, Armenian, Amharic, Burmese, Khmer, Tibetan
)
"""The marks with which sentences end, kind by kind, and what may close a sentence behind them."""
_BEFORE: Final = r"(?:^|[\s(\[\"'])"
_SHORTENED: Final = (
    "cf vs Dr Mr Mrs Ms Prof Fig Eq approx resp Nr ca bzw vgl ggf evtl inkl Sr".split()
)
ABBREVIATIONS: Final = (*_SHORTENED, "No", "ex", "ej")
"""All of more than one letter; the last ones only in No. 5, p. ex. and p. ej."""
_ABBREVIATION: Final = re.compile(
    rf"{_BEFORE}(?:{'|'.join(_SHORTENED)}|[A-Z]"
    r"|[a-z]\.[ \xa0]?(?:[A-Za-z]|ex|ej))\.$"  # e.g. and i.e., z. B. and d. h., p. ex. and p. ej.
)
_FIRST_LETTER: Final = re.compile(rf"{_BEFORE}[a-z]\.$")
_SECOND_LETTER: Final = re.compile(r"[ \xa0]?(?:[A-Za-z]|ex|ej)\.")
_LONGEST_ABBREVIATION: Final = 8
"""How far is read back for one, its dots included."""
_ENDS_OF_ABBREVIATIONS: Final = frozenset(
    [word[-2:] for word in ABBREVIATIONS]
    + [before + letter for before in " ." for letter in ascii_lowercase]
)
_DAY: Final = re.compile(rf"{_BEFORE}[0-3]?[0-9]\.$")
MONTHS: Final = "Jan Jän Feb März Apr Mai Jun Jul Aug Sep Okt Nov Dez"
"""How they begin in German and its neighbours, which write dates with a full stop."""
_MONTH: Final = re.compile(rf"[ \xa0](?:{MONTHS.replace(' ', '|')})[a-zä]*+(?!\w)")
_NUMBER_ABBREVIATION: Final = re.compile(r"\bNo\.$")
_LIST_LABEL: Final = re.compile(r"^\s*(?:\(?[0-9]{1,3}|[A-Za-z])[.)]$")
LONGEST_LABEL: Final = 6
"""Of an item of a list, such as `iv)` or `12.3.`; what is longer is a word."""
_LIST_LINE: Final = re.compile(r"[ \t]*(?:[-*•+‣◦][ \t]|\(?[0-9]{1,3}[.)][ \t]|#{1,6} |[|>])")
LIST_HEADS: Final = " \t-*•+‣◦(0123456789#|>"
"""The characters with which such a line begins."""
PHRASE_LETTERS: Final = "\u0e01-\u0e4e\u0e81-\u0ecf"
"""Thai and Lao, which put a space between phrases where others put a mark and a space."""
PHRASE_STARTS: Final = "\u0e01-\u0e30\u0e40-\u0e45\u0e81-\u0eb0\u0ec0-\u0ec5"
"""Those of them that a word can begin with: signs of repetition and vowels go on."""
WRAPPED_FROM: Final = 60
"""A line at least this long that does not end a sentence was probably wrapped."""
Span = tuple[int, int, int]
"""Start and end of a sentence, and the number of its paragraph."""

_BLANK_LINES: Final = re.compile(r"\n[ \t\r]*\n\s*")

(_SPACED, _QUOTES), (_UNSPACED, _BRACKETS), (_FOREIGN, _FOREIGN_QUOTES) = (
    (marks, re.escape(closers)) for marks, closers in MARKS
)
# Starting with a character set lets `re` skip all other text fast. The look-behind lets a run of
# marks be tried once, from its first one only: linear, always.
_END: Final = re.compile(
    rf"[{_SPACED}{_UNSPACED}{_FOREIGN}{PHRASE_LETTERS}](?:"
    rf"(?<=[{_SPACED}])(?<![{_SPACED}].)[{_SPACED}]*+[{_QUOTES}]*+(?=\s|$)"
    rf"|(?<=[{_UNSPACED}])[{_UNSPACED}]*+[{_BRACKETS}]*+"
    rf"|(?<=[{_FOREIGN}])[{_FOREIGN}]*+[{_FOREIGN_QUOTES}]*+"
    rf"|(?<=[{PHRASE_LETTERS}])(?= {{1,2}}[{PHRASE_STARTS}])"
    r")"
)
_ASCII_END: Final = re.compile(r"[.!?](?<![.!?].)[.!?]*+[\"')\]*_]*+(?=\s|$)")


def is_wrapped(text: str, start: int, feed: int, end: int) -> bool:
    """Tell whether the line break at *feed* only wraps a sentence that goes on."""
    after = feed + 1
    while after < end and after - feed < 8 and text[after] in " \t":
        after += 1
    if after >= end:
        return False
    if text[after].islower():
        return True
    if feed - start < WRAPPED_FROM or not text[after].isalnum():
        return False
    return not is_list_line(text, feed + 1, end) and not is_list_line(text, start, feed)


def is_list_line(text: str, start: int, end: int) -> bool:
    """Tell whether a line begins as an item of a list, a heading or a quotation does."""
    return text[start] in LIST_HEADS and _LIST_LINE.match(text, start, end) is not None


def goes_on(text: str, first: int, mark: int, stop: int, end: int) -> bool:
    """Tell whether a full stop belongs to an abbreviation or a list label, not to a sentence."""
    if stop - mark > 1 or text[mark] != ".":
        return False
    last = text[mark - 1]
    if "A" <= last <= "Z" or text[mark - 2 : mark] in _ENDS_OF_ABBREVIATIONS:  # rare
        tail = text[max(first, stop - _LONGEST_ABBREVIATION) : stop]
        if _ABBREVIATION.search(tail):
            return True
        if _SECOND_LETTER.match(text, stop, end) and _FIRST_LETTER.search(tail):
            return True
        if last == "o" and _NUMBER_ABBREVIATION.search(tail):
            return stop < end and text[stop : stop + 2].strip().isdigit()
    if "0" <= last <= "9" and _MONTH.match(text, stop, end):
        return _DAY.search(text[max(first, stop - _LONGEST_ABBREVIATION) : stop]) is not None
    if stop - first > LONGEST_LABEL or not last.isalnum():
        return False
    return _LIST_LABEL.match(text[first:stop]) is not None


class Sentence(NamedTuple):
    """A sentence, or a line that stands for one, with its place in the text."""

    start: int
    end: int
    paragraph: int


def split_sentences(text: str) -> list[str]:
    """Return the sentences of *text* in reading order; list items and headings count as one."""
    return [text[start:end] for start, end, _ in sentence_spans(text)]


def find_sentences(text: str) -> list[Sentence]:
    """Find the sentences of *text*. Nothing but white space lies outside them."""
    return [Sentence(*span) for span in sentence_spans(text)]


def sentence_spans(text: str) -> list[Span]:
    """Find the sentences of *text*: start, end, and number of the paragraph."""
    found: list[Span] = []
    marks = [mark.span() for mark in (_ASCII_END if text.isascii() else _END).finditer(text)]
    marks.append((len(text), len(text)))
    waiting = iter(marks)
    mark, stop = next(waiting)
    for first, last, paragraph in _blocks(text):
        start = first
        while mark < last:
            if mark - start >= 2 and not goes_on(text, start, mark, stop, last):
                while text[start].isspace():
                    start += 1
                found.append((start, stop, paragraph))
                start = stop
            mark, stop = next(waiting)
        while start < last and text[start].isspace():
            start += 1
        if start < last:
            found.append((start, start + len(text[start:last].rstrip()), paragraph))
    return found


def _blocks(text: str) -> list[Span]:
    """Cut a text between paragraphs, which are numbered, and at line breaks that mean something."""
    found: list[Span] = []
    start = number = 0
    for gap in _BLANK_LINES.finditer(text):
        end, next_start = gap.span()
        _add_blocks(found, text, start, end, number)
        number += start > 0 or not (end == 0 or text[:end].isspace())
        start = next_start
    _add_blocks(found, text, start, len(text), number)
    return found


def _add_blocks(found: list[Span], text: str, start: int, end: int, paragraph: int) -> None:
    """Cut a paragraph into blocks: lines, except that wrapped ones are joined."""
    first = line = start
    feed = text.find("\n", line, end)
    while feed >= 0:
        if not is_wrapped(text, line, feed, end):
            found.append((first, feed, paragraph))
            first = feed + 1
        line = feed + 1
        feed = text.find("\n", line, end)
    found.append((first, end, paragraph))
