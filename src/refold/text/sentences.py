"""Cutting prose into paragraphs and sentences, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BLANK_LINES: Final = re.compile(r"\n[ \t\r]*\n\s*")

# The look-behind lets a run of marks be tried once, from its first one only: linear, always.
_END: Final = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’)\]»*_]*+(?=\s|$)"  # needs white space: 3.5, config.prod.json
    r"|[。！？｡﹒︒]++[」』”’）》]*+"  # Chinese and Japanese are written without spaces
    r"|[।॥۔؟։።]++[\"'”’)\]»]*+"  # Hindi, Urdu, Arabic, Armenian, Amharic
)
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\[\"'])(?:e\.g|i\.e|cf|vs|Dr|Mr|Mrs|Ms|Prof|Fig|Eq|approx|resp|[A-Z])\.$"
)
_LONGEST_ABBREVIATION: Final = 8
_NUMBER_ABBREVIATION: Final = re.compile(r"\bNo\.$")
_LIST_LABEL: Final = re.compile(r"^\s*(?:\(?[0-9]{1,3}|[A-Za-z])[.)]$")
_LIST_LINE: Final = re.compile(r"[ \t]*(?:[-*•+‣◦][ \t]|\(?[0-9]{1,3}[.)][ \t]|#{1,6} |[|>])")
_WRAPPED_FROM: Final = 60
"""A line at least this long that does not end a sentence was probably wrapped."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or a line that stands for one, with its place in the text."""

    start: int
    end: int
    paragraph: int


def split_sentences(text: str) -> list[str]:
    """Return the sentences of *text* in reading order; list items and headings count as one."""
    return [text[s.start : s.end] for s in find_sentences(text)]


def find_sentences(text: str) -> list[Sentence]:
    """Find the sentences of *text*. Nothing but white space lies outside them."""
    found: list[Sentence] = []
    for number, (start, end) in enumerate(_paragraphs(text)):
        for first, last in _blocks(text, start, end):
            found.extend(
                Sentence(a, b, number) for a, b in _sentences_of(text, first, last) if b > a
            )
    return found


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _BLANK_LINES.finditer(text):
        if text[start : gap.start()].strip():
            yield start, gap.start()
        start = gap.end()
    if text[start:].strip():
        yield start, len(text)


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a paragraph at the line breaks that mean something; join lines that were only wrapped."""
    first = line = start
    while line < end:
        feed = text.find("\n", line, end)
        if feed < 0:
            break
        if not _is_wrapped(text, line, feed, end):
            yield first, feed
            first = feed + 1
        line = feed + 1
    yield first, end


def _is_wrapped(text: str, start: int, feed: int, end: int) -> bool:
    """Tell whether the line break at *feed* only wraps a sentence that goes on."""
    after = feed + 1
    while after < end and after - feed < 8 and text[after] in " \t":
        after += 1
    if after >= end or _LIST_LINE.match(text, feed + 1, end):
        return False
    if text[after].islower():
        return True
    is_long = feed - start >= _WRAPPED_FROM
    return is_long and text[after].isalnum() and not _LIST_LINE.match(text, start, feed)


def _sentences_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    first = start
    for mark in _END.finditer(text, start, end):
        if mark.start() - first < 2 or _goes_on(text, first, mark, end):
            continue
        yield _trim(text, first, mark.end())
        first = mark.end()
    yield _trim(text, first, end)


def _goes_on(text: str, first: int, mark: re.Match[str], end: int) -> bool:
    """Tell whether a full stop belongs to an abbreviation or a list label, not to a sentence."""
    if mark[0] != ".":
        return False
    stop = mark.end()
    tail = text[max(first, stop - _LONGEST_ABBREVIATION) : stop]
    if _ABBREVIATION.search(tail):
        return True
    if _NUMBER_ABBREVIATION.search(tail) and text[stop : stop + 2].strip().isdigit():
        return stop < end
    return stop - first <= 6 and _LIST_LABEL.match(text[first:stop]) is not None


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
