"""The open question: what is asked about now, and the pieces that are about it.

The last message that a person typed, the agent's newest words and unanswered calls name what comes
next. A log line with the id that is asked about must not be left out because the question says that
id already. Pieces are ranked as in a search engine: by how many of the words and values asked about
they hold, weighted by rarity. What belongs to the best ones comes along: the body of a function,
the rest of a record.
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
from refold.messages.blocks import open_calls
from refold.messages.message import Message
from refold.plan.choose import Candidates
from refold.plan.corpus import Corpus, Text
from refold.scan.items import Shape, find_items, shape_of
from refold.scan.runs import Span

_CODE_NAMES: Final = (Shape.SNAKE, Shape.CAMEL)
_VALUE_WEIGHT: Final = 3.0
"""An id finds its line by itself; a word mostly needs others."""
_CLOSE_TO_BEST: Final = 0.6
"""Pieces with a smaller share of the best score are about something else."""
_LEAST_SCORE: Final = 6.0
"""A lower score is chance; this is about two rare words, or one value."""
_MOST_EXTENDED: Final = 2
"""So many of the best pieces bring along what belongs to them. With 3, bench/asked.py keeps 1 %
more at 15 % of the tokens, but loses more values that nobody asked for at 10 %."""
_MOST_COMMON: Final = 0.2
"""An item that is in a larger share of all pieces is no search term."""


def find_asking(messages: Sequence[Message]) -> frozenset[int]:
    """Return the messages that say what is wanted next: last words and unanswered calls."""
    turns = [message for message in messages if message.is_turn]
    asking = set(open_calls(messages))
    for role in ("user", "assistant"):
        said = [m.index for m in turns if m.role == role and not m.is_tool_result]
        asking.update(said[-1:])
    return frozenset(asking)


def find_asked(texts: Sequence[Text], asking: Container[int], corpus: Corpus) -> frozenset[int]:
    """Return the items that the messages in *asking* name, by their rows, in any spelling."""
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
    """Return other spellings of *item*, case aside: without its directory or its module."""
    if "/" in item:
        return item, item.rpartition("/")[2]
    name = item.rpartition(".")[2]
    return (item, name) if name and shape_of(name) in _CODE_NAMES else (item,)


def rank_evidence(
    candidates: Candidates, texts: Sequence[Text], asked: frozenset[int], shapes: Sequence[int]
) -> list[int]:
    """Return the candidates that are about what is *asked*, the best first; often there are none.

    Each of the best is followed by what belongs to it.
    """
    found = _rank(candidates, asked, shapes)
    ranked: dict[int, None] = {}
    for place, number in enumerate(found):
        ranked[number] = None
        if place < _MOST_EXTENDED:
            ranked.update(dict.fromkeys(_find_around(number, candidates, texts)))
    return list(ranked)


def _find_around(number: int, candidates: Candidates, texts: Sequence[Text]) -> range:
    """Return the candidates that belong with *number*, in reading order."""
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
    """Return the candidates that match what is *asked* best, the best first."""
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
"""How many characters may belong together: about 40 lines of code. Longer functions mostly answer a
question with their head; with a quarter of that, every other function loses its end."""
_BRACKETS: Final = ("{", "}", ")", "]")
"""A line that begins with one of these, no deeper than a head, belongs to that head or its body."""
_ROWS: Final = "\nrows of "
_ROWS_END: Final = "\n]"
_REFERS_BACK: Final = re.compile(
    r"\s*+(?:It|Its|They|Them|Their|This|That|These|Those|He|She|His|Her|Both|Each|Neither)\b"
)
"""Beginnings of sentences that cannot be understood without the one before."""


def find_surroundings(text: str, kind: str, piece: Span) -> Span:
    """Return the span of *text*, of this *kind*, that belongs with a piece of it.

    It begins with the piece, or with the function or record around it; it may end before the piece
    does, if that function is long.
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
    """Return the span from the head of the function around a piece to its last line."""
    first = text.rfind("\n", 0, piece[0]) + 1
    head: int | None = first
    while head is not None and not is_signature(text, head):
        head = _find_above(text, head, first - MOST_CHARS)
    return piece if head is None else (head, _end_of_deeper(text, head))


def _find_above(text: str, start: int, lowest: int) -> int | None:
    """Return the next line above the one at *start* that is indented less, not above *lowest*."""
    depth = _indent_at(text, start)
    if text.startswith(_BRACKETS, skip_number(text, start) + depth):
        depth += 1  # what it closes or continues is indented alike
    while start > max(0, lowest):
        start = text.rfind("\n", 0, start - 1) + 1
        if not _is_blank(text, start) and _indent_at(text, start) < depth:
            return start
    return None


def _end_of_deeper(text: str, start: int) -> int:
    """Return where the lines below *start* end that are indented deeper."""
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
    """Return the indentation of the line at *start*, after its number."""
    place = first = skip_number(text, start)
    while place < len(text) and text[place] in " \t":
        place += 1
    return place - first


def _is_blank(text: str, start: int) -> bool:
    place = skip_number(text, start)
    end = text.find("\n", place)
    return not text[place : end if end >= 0 else len(text)].strip()


def _find_record(text: str, piece: Span) -> Span:
    """Return the JSON record around a piece; a row of a table is complete by itself."""
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
    """Return the nearest brace that is open at *start*."""
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
