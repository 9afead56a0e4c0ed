"""Cutting prose into paragraphs and sentences, in any language."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from refold.scan.sentence_rules import MARKS, PHRASE_LETTERS, PHRASE_STARTS, goes_on, is_wrapped

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
