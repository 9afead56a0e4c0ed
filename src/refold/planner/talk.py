"""Plain talk, told from work with tools, files and data by the words that it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from refold.planner.items import Shape, find_items, part_words, shape_of

_TALK_SHARE: Final = 0.14
_CJK_TALK_SHARE: Final = 0.5
"""Prices and times are most of what is said in short dialogues without spaces between words."""


def is_talk(texts: Iterable[str]) -> bool:
    """Tell whether *texts* are talk: few of the items that they say are values."""
    words: Counter[str] = Counter()
    for text in texts:
        words.update(part_words(text).split())
    times: Counter[str] = Counter()
    for word, count in words.items():
        if word.isascii() and word.isalnum():  # one item, as it is
            times[word] += count
        else:
            for item in find_items(word):
                times[item] += count
    said = values = kinds = cjk = 0
    for item, count in times.items():
        shape = shape_of(item)
        if shape is Shape.NONE:
            continue
        said += count
        kinds += 1
        cjk += shape is Shape.CJK
        if shape < Shape.WORD:
            values += count
    return values < (_CJK_TALK_SHARE if 2 * cjk > kinds else _TALK_SHARE) * max(1, said)
