"""Plain talk, without tools: people ask later about rare words, so all of it counts alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from refold.fold.pieces import Text, Voice
from refold.lazy import regex
from refold.scan.items import Shape, find_items, shape_of

_VALUES: Final = 0.14
_VALUES_DENSE: Final = 0.5
"""With a smaller share of values among its items, a conversation is talk. Short Chinese and
Japanese dialogues are largely prices and times."""
_CLAUSE: Final = regex(
    r"(?:[^\n.!?,;:。！？，；、]|[.,:](?=\d))*+"  # not in 4.5 or 10:30
    r"[\n.!?,;:。！？，；、]*+\s*+"
)
_LEAST: Final = 20
_LEAST_DENSE: Final = 12
"""Characters of a clause: a shorter one, such as "However,", says nothing alone. In Chinese,
Japanese and Korean a character is about a syllable."""
_DENSE: Final = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def is_talk(texts: Sequence[Text]) -> bool:
    """Tell whether nobody used a tool, and few of the items are values."""
    if any(text.voice in (Voice.TOOL, Voice.CALL) for text in texts):
        return False
    items = values = dense = 0
    for item, times in Counter(chain(*(find_items(text.text) for text in texts))).items():
        shape = shape_of(item)
        items += times * (shape is not Shape.NONE)
        values += times * (shape < Shape.WORD)
        dense += times * (shape is Shape.CJK)
    return values < (_VALUES_DENSE if 3 * dense > items else _VALUES) * max(1, items)


def find_clauses(text: str) -> Iterator[tuple[int, int]]:
    """Yield the clauses of *text*, short ones with what follows."""
    is_dense = not text.isascii() and 3 * len(_DENSE.findall(text)) > len(text)
    start, least = 0, _LEAST_DENSE if is_dense else _LEAST
    for match in _CLAUSE.finditer(text):
        end = match.end()
        if end > start and (end - start >= least or end == len(text)):
            yield start, end
            start = end
