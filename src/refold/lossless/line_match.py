"""Which lines two versions of a text share, in O(n log n): anchored at lines that occur once."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """The lines `start:end` of the old version became `new_start:new_end` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def find_changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """Return what turns *old* into *new*, in order; equal lines in between are left out."""
    changes: list[Change] = []
    at_old = at_new = 0
    for i, j in [*_anchors(old, new), (len(old), len(new))]:
        # An anchor may already lie in the equal lines that ended the gap before it.
        if i < at_old or j < at_new:
            continue
        head = _common_head(old, new, (at_old, i), (at_new, j))
        start, new_start = at_old + head, at_new + head
        tail = _common_tail(old, new, (start, i), (new_start, j))
        if start < i - tail or new_start < j - tail:
            changes.append(Change(start, i - tail, new_start, j - tail))
        at_old, at_new = i, j
    return changes


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest rising chain of lines that occur exactly once in both versions."""
    counts_old, counts_new = Counter(old), Counter(new)
    places = {line: j for j, line in enumerate(new) if counts_new[line] == 1}
    pairs = [
        (i, places[line]) for i, line in enumerate(old) if counts_old[line] == 1 and line in places
    ]
    ends: list[int] = []  # the lowest place in *new* at which a chain of each length ends
    tops: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(tops[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        tops[length : length + 1] = [number]
    chain: list[tuple[int, int]] = []
    number = tops[-1] if tops else -1
    while number >= 0:
        chain.append(pairs[number])
        number = before[number]
    return chain[::-1]


def _common_head(
    old: Sequence[str], new: Sequence[str], a: tuple[int, int], b: tuple[int, int]
) -> int:
    limit = min(a[1] - a[0], b[1] - b[0])
    size = 0
    while size < limit and old[a[0] + size] == new[b[0] + size]:
        size += 1
    return size


def _common_tail(
    old: Sequence[str], new: Sequence[str], a: tuple[int, int], b: tuple[int, int]
) -> int:
    limit = min(a[1] - a[0], b[1] - b[0])
    size = 0
    while size < limit and old[a[1] - 1 - size] == new[b[1] - 1 - size]:
        size += 1
    return size
