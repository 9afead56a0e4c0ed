"""The open question: what the user asks about now, and the pieces that speak of it.

The last message that a person typed, the agent's newest words and calls that wait for an answer
name what comes next. A line of a log that holds the id which is asked about must not be left out
because the id stands in the question already. Pieces are ranked by how many of the words and
values that are asked about they hold, rare ones first, as search engines do. What belongs to the
best of them comes along: the body of a function, the rest of a record.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Sequence
from itertools import chain
from math import log
from typing import Final

from refold.kinds import file_read, json_records
from refold.kinds.file_read import is_signature, skip_number
from refold.messages.message import Message
from refold.plan.blocks import open_calls
from refold.plan.choose import Candidates
from refold.plan.corpus import Corpus, Text
from refold.plan.gaps import Span
from refold.scan.items import Shape, find_items, shape_of

_CODE_NAMES: Final = (Shape.SNAKE, Shape.CAMEL)
_VALUE_WEIGHT: Final = 3.0
"""An id that is asked about finds its line alone; a word mostly needs others beside it."""
_CLOSE_TO_BEST: Final = 0.6
"""Pieces that score less than this share of the best one speak of something else."""
_LEAST_SCORE: Final = 6.0
"""Fewer matches are chance: about two rare words, or one value."""
_MOST_EXTENDED: Final = 2
"""For so many of the best, what belongs to them comes along. With 3, bench/asked.py keeps 1 % more
at 15 % of the tokens, but values that nobody asked for lose more at 10 %."""
_MOST_COMMON: Final = 0.2
"""What more than this share of all pieces holds finds nothing."""


def find_asking(messages: Sequence[Message]) -> frozenset[int]:
    """Return the messages that say what is wanted next."""
    turns = [message for message in messages if message.is_turn]
    asking = set(open_calls(messages))
    for role in ("user", "assistant"):
        said = [m.index for m in turns if m.role == role and not m.is_tool_result]
        asking.update(said[-1:])
    return frozenset(asking)


def find_asked(texts: Sequence[Text], asking: Container[int], corpus: Corpus) -> frozenset[int]:
    """Return the rows of the items that the messages in *asking* name."""
    items = (
        item
        for text in texts
        if text.message.index in asking
        for item in find_items(text.text)
        if item not in corpus.known
    )
    forms = {form.lower() for item in items for form in _forms(item)}
    return frozenset(row for item, row in corpus.stats.number.items() if item.lower() in forms)


def _forms(item: str) -> tuple[str, ...]:
    """Return how others may spell *item*, capitals aside: without its directory or its module."""
    if "/" in item:
        return item, item.rpartition("/")[2]
    name = item.rpartition(".")[2]
    return (item, name) if name and shape_of(name) in _CODE_NAMES else (item,)


def rank_evidence(
    candidates: Candidates, texts: Sequence[Text], asked: frozenset[int], shapes: Sequence[int]
) -> list[int]:
    """Return the candidates that speak of what is *asked*, the best first; often there are none.

    What belongs to one of the best of them follows it.
    """
    found = _rank(candidates, asked, shapes)
    ranked: dict[int, None] = {}
    for place, number in enumerate(found):
        ranked[number] = None
        if place < _MOST_EXTENDED:
            ranked.update(dict.fromkeys(_find_around(number, candidates, texts)))
    return list(ranked)


def _find_around(number: int, candidates: Candidates, texts: Sequence[Text]) -> range:
    """Return the candidates that belong to one, in reading order."""
    owner = candidates.text[number]
    text = texts[owner]
    first = bisect_left(candidates.text, owner)
    last = bisect_right(candidates.text, owner)
    piece = candidates.start[number], candidates.end[number]
    start, end = find_surroundings(text.text, text.kind, piece)
    return range(
        bisect_right(candidates.end, start, first, last),
        bisect_left(candidates.start, end, first, last),
    )


def _rank(candidates: Candidates, asked: frozenset[int], shapes: Sequence[int]) -> list[int]:
    """Return the candidates that share most with what is *asked*, the best first."""
    if not asked:
        return []
    is_none = map(asked.isdisjoint, candidates.rows)
    matches = {
        number: asked.intersection(candidates.rows[number])
        for number, none in enumerate(is_none)
        if not none
    }
    count = len(candidates)
    held_by = Counter(chain.from_iterable(matches.values()))
    weight = {
        row: (_VALUE_WEIGHT if shapes[row] < Shape.WORD else 1.0) * log(1 + count / held)
        for row, held in held_by.items()
        if held <= max(2, _MOST_COMMON * count)
    }
    scores = {
        number: sum([weight.get(row, 0.0) for row in rows]) for number, rows in matches.items()
    }
    best = max(scores.values(), default=0.0)
    least = max(_LEAST_SCORE, _CLOSE_TO_BEST * best)
    found = [number for number, score in scores.items() if score >= least]
    return sorted(found, key=lambda number: (-scores[number], -number))


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
