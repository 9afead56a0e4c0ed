"""Cutting prose into paragraphs and sentences, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_BLANK_LINES: Final = re.compile(r"\n[ \t\r]*\n\s*")

# Starting with a character set lets `re` skip all other text fast. The look-behind lets a run of
# marks be tried once, from its first one only: linear, always.
_END: Final = re.compile(
    r"[.!?…。！？｡﹒︒।॥۔؟։።](?:"
    r"(?<=[.!?…])(?<![.!?…].)[.!?…]*+[\"'”’)\]»*_]*+(?=\s|$)"  # white space: 3.5, config.prod.json
    r"|(?<=[。！？｡﹒︒])[。！？｡﹒︒]*+[」』”’）》]*+"  # Chinese, Japanese: no spaces
    r"|(?<=[।॥۔؟։።])[।॥۔؟։።]*+[\"'”’)\]»]*+"  # Hindi, Urdu, Arabic, Armenian, Amharic
    r")"
)
_ASCII_END: Final = re.compile(r"[.!?](?<![.!?].)[.!?]*+[\"')\]*_]*+(?=\s|$)")
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\[\"'])(?:e\.g|i\.e|cf|vs|Dr|Mr|Mrs|Ms|Prof|Fig|Eq|approx|resp|[A-Z])\.$"
)
_LONGEST_ABBREVIATION: Final = 8
_ENDS_OF_ABBREVIATIONS: Final = frozenset(".g .e cf vs Dr Mr rs Ms of ig Eq ox sp No".split())
_NUMBER_ABBREVIATION: Final = re.compile(r"\bNo\.$")
_LIST_LABEL: Final = re.compile(r"^\s*(?:\(?[0-9]{1,3}|[A-Za-z])[.)]$")
_LIST_LINE: Final = re.compile(r"[ \t]*(?:[-*•+‣◦][ \t]|\(?[0-9]{1,3}[.)][ \t]|#{1,6} |[|>])")
_WRAPPED_FROM: Final = 60
"""A line at least this long that does not end a sentence was probably wrapped."""


class Sentence(NamedTuple):
    """A sentence, or a line that stands for one, with its place in the text."""

    start: int
    end: int
    paragraph: int


def split_sentences(text: str) -> list[str]:
    """Return the sentences of *text* in reading order; list items and headings count as one."""
    return [text[start:end] for start, end, _ in find_sentences(text)]


def find_sentences(text: str) -> list[Sentence]:
    """Find the sentences of *text*. Nothing but white space lies outside them."""
    found: list[Sentence] = []
    marks = (_ASCII_END if text.isascii() else _END).finditer(text)
    mark = next(marks, None)
    for number, (start, end) in enumerate(_paragraphs(text)):
        for first, last in _blocks(text, start, end):
            sentence = first
            while mark is not None:
                at, stop = mark.span()
                if at >= last:
                    break
                if at - sentence >= 2 and not _goes_on(text, sentence, at, stop, last):
                    _add(found, text, sentence, stop, number)
                    sentence = stop
                mark = next(marks, None)
            _add(found, text, sentence, last, number)
    return found


def _add(found: list[Sentence], text: str, start: int, end: int, paragraph: int) -> None:
    """Add the sentence without the white space around it, if anything is left."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        found.append(Sentence(start, end, paragraph))


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
    feed = text.find("\n", line, end)
    while feed >= 0:
        if not _is_wrapped(text, line, feed, end):
            yield first, feed
            first = feed + 1
        line = feed + 1
        feed = text.find("\n", line, end)
    yield first, end


def _is_wrapped(text: str, start: int, feed: int, end: int) -> bool:
    """Tell whether the line break at *feed* only wraps a sentence that goes on."""
    after = feed + 1
    while after < end and after - feed < 8 and text[after] in " \t":
        after += 1
    if after >= end:
        return False
    if text[after].islower():
        return True
    if feed - start < _WRAPPED_FROM or not text[after].isalnum():
        return False
    return not _LIST_LINE.match(text, feed + 1, end) and not _LIST_LINE.match(text, start, feed)


def _goes_on(text: str, first: int, mark: int, stop: int, end: int) -> bool:
    """Tell whether a full stop belongs to an abbreviation or a list label, not to a sentence."""
    if stop - mark > 1 or text[mark] != ".":
        return False
    before = text[mark - 2 : mark]
    if before in _ENDS_OF_ABBREVIATIONS or "A" <= before[1] <= "Z":
        tail = text[max(first, stop - _LONGEST_ABBREVIATION) : stop]
        if _ABBREVIATION.search(tail):
            return True
        if _NUMBER_ABBREVIATION.search(tail) and text[stop : stop + 2].strip().isdigit():
            return stop < end
    return stop - first <= 6 and _LIST_LABEL.match(text[first:stop]) is not None
