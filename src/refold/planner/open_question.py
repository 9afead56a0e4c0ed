"""The open question: what the user asks about now, and the pieces that speak of it.

The last message that a person typed, the agent's newest words and calls that wait for an answer
name what comes next. A line of a log that holds the id which is asked about must not be left out
because the id stands in the question already. Pieces are ranked by how many of the words and
values that are asked about they hold, rare ones first, as search engines do. What belongs to the
best of them comes along: the body of a function, the rest of a record.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Sequence
from math import log
from typing import Final

from refold.budget.blocks import open_calls
from refold.model.message import Message
from refold.planner.choose import Candidates
from refold.planner.corpus import Corpus, Text
from refold.planner.items import Shape, find_items, shape_of
from refold.planner.surroundings import find_surroundings

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
    number = corpus.stats.number
    items = (
        item
        for text in texts
        if text.message.index in asking
        for item in find_items(text.text)
        if item not in corpus.known
    )
    forms = (form for item in items for form in _forms(item))
    return frozenset(number[form] for form in forms if form in number)


def _forms(item: str) -> tuple[str, ...]:
    """Return how others may spell *item*: without a capital, its directory or its module."""
    if "/" in item:
        return item, item.rpartition("/")[2]
    name = item.rpartition(".")[2]
    return item, name if shape_of(name) in _CODE_NAMES else item.lower()


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
    matches = [asked.intersection(rows) for rows in candidates.rows]
    count = len(matches)
    held_by = Counter(row for rows in matches for row in rows)
    weight = {
        row: (_VALUE_WEIGHT if shapes[row] < Shape.WORD else 1.0) * log(1 + count / held)
        for row, held in held_by.items()
        if held <= max(2, _MOST_COMMON * count)
    }
    scores = {
        number: sum(weight.get(row, 0.0) for row in rows)
        for number, rows in enumerate(matches)
        if rows
    }
    best = max(scores.values(), default=0.0)
    least = max(_LEAST_SCORE, _CLOSE_TO_BEST * best)
    found = [number for number, score in scores.items() if score >= least]
    return sorted(found, key=lambda number: (-scores[number], -number))
