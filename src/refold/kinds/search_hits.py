"""Search hits of grep and ripgrep: one piece a hit, whether the path is on its line or above."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from refold.kinds._errors import split_source
from refold.kinds._lines import END, any_of, line_pattern, line_rules
from refold.kinds.base import NOISE, Grade, Kind, Pieces, Sample

_HIT: Final = Grade("hit", 1.6, room=0)
_FILE: Final = Grade("heading", 1.5, leads=True)
_AROUND: Final = Grade("context", 1.3, room=120)

_PATH: Final = r"[^\s:\"'{}<>=,;*\\][^\s:\"'{}<>=,;*]{0,200}+"
_NAME: Final = r"[\w.@()\[\]+-]++"
_CONTEXT: Final = any_of(r"[0-9]++-", r"/?(?:[\w.@+-]++/)*+[\w.@+-]+-[0-9]++-")

_IS_HIT: Final = line_pattern(rf"{_PATH}:[0-9]++[:-]", r"[0-9]++[:-](?![0-9])", "Binary file ")
_ONE_HIT: Final = re.compile(r"(?=[\w@+-]*+[/.])[\w./@+-]{3,200}+:[0-9]++:")
"""A single hit must look more like a path than a time of day does."""
_IS_PATH_HIT: Final = line_pattern(rf"(?:\./|/)?(?:{_NAME}/)++{_NAME}:[^/\n]")
_IS_AROUND: Final = line_pattern(_CONTEXT, r"--$")
_LINE_NUMBER: Final = re.compile(r"([0-9]{1,9}+):")
_NAMED: Final = any_of(rf"{_PATH}:[0-9]++:", rf"(?:\./|/)?(?:{_NAME}/)++{_NAME}:[^/\n]")
_RULES: Final = (
    (_HIT, r"[0-9]++:"),
    (NOISE, any_of(rf"--{END}", r"Found [0-9]")),
    (_AROUND, _CONTEXT),
    (_FILE, rf"(?:\./|/)?(?:{_NAME}/)*+[\w@()\[\]+.-]+\.\w{{1,8}}:?{END}"),
)
_MARKS: Final = line_rules("", (_HIT, _NAMED), *_RULES)


def _claims(sample: Sample) -> bool:
    hits = sample.share(_IS_HIT)
    if len(sample.lines) == 1:
        return bool(hits) and (_ONE_HIT.match(sample.lines[0]) is not None or sample.was_search)
    if hits >= 0.5:
        return not _counts_up(sample.lines)
    if not hits and not sample.was_search:
        return False  # nearly every text ends here
    around = sample.share(_IS_AROUND)
    if hits and hits + around >= 0.7:
        return True
    return sample.was_search and hits + around + sample.share(_IS_PATH_HIT) >= 0.4


def _counts_up(lines: list[str]) -> bool:
    """Return whether the numbers before the lines are consecutive, as in a numbered file."""
    numbers = [int(found[1]) for line in lines if (found := _LINE_NUMBER.match(line))]
    steps = sum(1 for one, next_one in pairwise(numbers) if 1 <= next_one - one <= 4)
    return len(numbers) >= 4 and steps >= 0.7 * len(numbers)


def split_hits(text: str) -> Pieces:
    """Cut search hits into one piece a hit."""
    return split_source(text, _MARKS(text))


KIND: Final = Kind(name="search_hits", claims=_claims, on_one_line=True, split=split_hits)
