"""What belongs to a line: the function around it, the record around a field, what stands below.

Whoever asks about a function by its name needs its body, and whoever asks about an order by its
number needs the rest of the order. Nothing here looks further than a few screens.
"""

from __future__ import annotations

import re
from typing import Final

from refold.kinds import file_read, json_records
from refold.kinds.file_read import is_signature, skip_number
from refold.planner.gaps import Span

MOST_CHARS: Final = 1_200
"""What belongs together is followed this far: about 40 lines of code. Longer functions mostly
answer a question with their head; a quarter of that loses the end of every other one."""
_BRACKETS: Final = ("{", "}", ")", "]")
"""A line that begins with one of these, no deeper than a head, is a part of that head or body."""
_ROWS: Final = "\nrows of "
_ROWS_END: Final = "\n]"
_REFERS_BACK: Final = re.compile(
    r"\s*+(?:It|Its|They|Them|Their|This|That|These|Those|He|She|His|Her|Both|Each|Neither)\b"
)
"""How sentences begin that say nothing without the one before."""


def find_surroundings(text: str, kind: str, piece: Span) -> Span:
    """Return the stretch of *text*, of this *kind*, that belongs to a piece of it.

    It begins no later than the piece, or with the function that the piece is in; it may end before
    the piece does, if that function is long.
    """
    if kind == file_read.KIND.name:
        return _find_function(text, piece)
    if kind == json_records.KIND.name:
        return _find_record(text, piece)
    start, end = piece
    if _REFERS_BACK.match(text, end):
        return start, end + 1
    last = text.rfind("\n", start, end - 1) + 1 or start
    return start, max(end, _end_of_deeper(text, last) if text[end - 1 : end] == "\n" else end)


def _find_function(text: str, piece: Span) -> Span:
    """Return from the head of the function around a piece to its last line."""
    first = text.rfind("\n", 0, piece[0]) + 1
    head: int | None = first
    while head is not None and not is_signature(text, head):
        head = _find_above(text, head, first - MOST_CHARS)
    return piece if head is None else (head, _end_of_deeper(text, head))


def _find_above(text: str, start: int, lowest: int) -> int | None:
    """Return the next line above the one at *start* that it is inside of."""
    depth = _indent_at(text, start)
    if text.startswith(_BRACKETS, skip_number(text, start) + depth):
        depth += 1  # what it closes, or goes on with, is no deeper
    while start > max(0, lowest):
        start = text.rfind("\n", 0, start - 1) + 1
        if not _is_blank(text, start) and _indent_at(text, start) < depth:
            return start
    return None


def _end_of_deeper(text: str, start: int) -> int:
    """Return where the lines end that are indented deeper than the one at *start*."""
    depth = _indent_at(text, start)
    end = place = _end_of_line(text, start)
    while place < len(text) and place - start < MOST_CHARS:
        after = _end_of_line(text, place)
        if not _is_blank(text, place):
            closes = text.startswith(_BRACKETS, skip_number(text, place) + depth)
            if _indent_at(text, place) <= depth and not closes:
                break
            end = after
        place = after
    return end


def _end_of_line(text: str, start: int) -> int:
    return text.find("\n", start) + 1 or len(text)


def _indent_at(text: str, start: int) -> int:
    """Count the blanks before the line at *start*, behind its number."""
    place = first = skip_number(text, start)
    while place < len(text) and text[place] in " \t":
        place += 1
    return place - first


def _is_blank(text: str, start: int) -> bool:
    place = skip_number(text, start)
    end = text.find("\n", place)
    return not text[place : end if end >= 0 else len(text)].strip()


def _find_record(text: str, piece: Span) -> Span:
    """Return from the brace before a piece to the one that closes it; a row is whole as it is."""
    start, end = piece
    if text.rfind(_ROWS, 0, start) > text.rfind(_ROWS_END, 0, start):
        return piece
    depth = text.count("{", start, end) - text.count("}", start, end)
    if depth == 0 and "{" in text[start:end]:
        return piece
    if depth <= 0:
        start = _find_opening(text, start)
        depth = text.count("{", start, end) - text.count("}", start, end)
    return start, _find_closing(text, start, end, depth)


def _find_opening(text: str, start: int) -> int:
    """Return where the nearest brace is that is open at *start*."""
    depth = 0
    for place in range(start - 1, max(-1, start - MOST_CHARS), -1):
        if text[place] == "}":
            depth += 1
        elif text[place] == "{":
            if depth == 0:
                return place
            depth -= 1
    return start


def _find_closing(text: str, start: int, end: int, depth: int) -> int:
    """Return where the record ends that began at *start* and has *depth* open braces at *end*."""
    stop = min(len(text), start + MOST_CHARS)
    place = end
    while place < stop and depth > 0:
        depth += (text[place] == "{") - (text[place] == "}")
        place += 1
    return max(place, end)
