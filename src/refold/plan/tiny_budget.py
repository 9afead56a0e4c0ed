"""Tiny budgets: the best span of words, for a talk that leaves no room for more.

Where a sentence or two is all that can be shown, choosing whole pieces by their worth per token
leaves most of the room empty, and pays for a label with every piece. So the best stretch is shown
instead: it begins with a piece, and ends where the room does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from refold.plan.choose import Candidates
from refold.plan.gaps import IDEOGRAPHS
from refold.scan.truncate import cut

FEW_TOKENS: Final = 30
"""Up to this much room a stretch shows more than pieces do."""
_MOST_CHARS: Final = 20 * FEW_TOKENS


def best_span(candidates: Candidates, worths: Sequence[float], room: Sequence[float]) -> int | None:
    """Return the candidate to begin with; *room* tells how many tokens of each text fit.

    What is worth most counts, not what is worth most per token: the room will be full anyway.
    """
    spent = [0.0, *accumulate(candidates.cost)]
    gained = [0.0, *accumulate(worths)]
    best, found = 0.0, None
    after = len(candidates)
    for first in reversed(range(len(candidates))):
        if first + 1 < len(candidates) and candidates.text[first + 1] != candidates.text[first]:
            after = first + 1
        limit = spent[first] + max(0.0, room[candidates.text[first]])
        last = bisect_right(spent, limit, first, after + 1) - 1
        worth = gained[last] - gained[first]
        if last < after:
            worth += worths[last] * (limit - spent[last]) / (spent[last + 1] - spent[last])
        if worth > best:
            best, found = worth, first
    return found


def fit_end(text: str, start: int, fits: Callable[[int], bool]) -> int:
    """Return where a stretch from *start* ends: the last place between two words that *fits*."""
    low, high = 0, min(len(text) - start, _MOST_CHARS)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_between_words(text, start, start + middle)):
            low = middle
        else:
            high = middle - 1
    return _between_words(text, start, start + low)


def _between_words(text: str, start: int, end: int) -> int:
    """Return the last place up to *end* that is inside no word, number or visible character."""
    if end == len(text):
        return end
    end = start + len(cut(text[start : end + 1], end - start))
    while end > start and _is_solid(text[end - 1]) and _is_solid(text[end]):
        end -= 1
    return end


def _is_solid(char: str) -> bool:
    return char < IDEOGRAPHS and not char.isspace()
