"""A file read again: what changed since the earlier read, as a diff that finds its own places.

    [the earlier read of this file, with these changes]
    @@
      def put(self, job):
    -     self.jobs.append(job)
    +     self.jobs.appendleft(job)

A hunk starts with a line that the earlier read has only once (or, after `@@ top`, with its first
line), so it needs no line numbers. Where both reads number their lines, the numbers are left out of
the comparison: they count on, whatever was inserted.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from refold.codecs.base import unreadable
from refold.scan.patterns import NUMBERED_LINE

_HEADING: Final = "[the earlier read of this file, with these changes]"
_NUMBERS: Final = "[the earlier read of this file, with these changes; its numbers count on]"
_SAME: Final = "[the earlier read of this file, unchanged]"
_NUMBERED: Final = re.compile(rf"( *){NUMBERED_LINE}")
_MAX_CONTEXT: Final = 40
"""How far above a change a line that occurs once is searched."""
_MAX_SHARE: Final = 0.5
"""A diff longer than this share of the text is no help to a reader."""
_MIN_NUMBERED: Final = 3
"""As in `numbered`: two lines have consecutive numbers by chance."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The lines of a read, those of its numbered part without their numbers."""

    lines: list[str]
    start: int = 0
    """Where the numbered part starts."""
    after: int = 0
    """How many lines follow the numbered part."""
    number: int = 0
    """The first number; 0 where nothing is numbered."""
    width: int = 0
    separator: str = ""

    def is_numbered_like(self, other: _Read) -> bool:
        """Return whether both number their lines in the same way from the same line on."""
        return self.number > 0 and replace(self, lines=[]) == replace(other, lines=[])

    def text(self) -> str:
        """Return the text with its numbers."""
        end = len(self.lines) - self.after
        if not self.number or end < self.start:
            return "\n".join(self.lines)
        shown = list(self.lines)
        for place in range(self.start, end):
            number = self.number + place - self.start
            shown[place] = f"{number:>{self.width}}{self.separator}{shown[place]}"
        return "\n".join(shown)


def changes(text: str, earlier: str) -> str | None:
    """Return how *text* differs from an *earlier* read; `None` if that is not much shorter."""
    if text == earlier:
        return _SAME if len(_SAME) < _MAX_SHARE * len(text) else None
    for heading, old, new in _pairings(text, earlier):
        hunks = _hunks(old.lines, new.lines)
        if hunks is None:
            continue
        diff = "\n".join((heading, *hunks))
        if len(diff) <= _MAX_SHARE * len(text) and apply_changes(diff, earlier) == text:
            return diff
    return None


def _pairings(text: str, earlier: str) -> Iterator[tuple[str, _Read, _Read]]:
    old, new = _read(earlier), _read(text)
    if old.is_numbered_like(new):
        yield _NUMBERS, old, new
    yield _HEADING, _Read(earlier.split("\n")), _Read(text.split("\n"))


def _read(text: str) -> _Read:
    """Take the numbers off the first run of numbered lines."""
    lines = text.split("\n")
    matches = ((place, _NUMBERED.match(line)) for place, line in enumerate(lines))
    start, first = next(((place, match) for place, match in matches if match), (0, None))
    if first is None:
        return _Read(lines)
    number, width, separator = int(first[2]), len(first[1]) + len(first[2]), first[3]
    bodies: list[str] = []
    for place in range(start, len(lines)):
        prefix = f"{number + place - start:>{width}}{separator}"
        if not lines[place].startswith(prefix):
            break
        bodies.append(lines[place][len(prefix) :])
    if len(bodies) < _MIN_NUMBERED:
        return _Read(lines)
    after = len(lines) - start - len(bodies)
    bare = lines[:start] + bodies + lines[len(lines) - after :]
    return _Read(bare, start, after, number, width, separator)


def _hunks(old: Sequence[str], new: Sequence[str]) -> list[str] | None:
    """Write the changes, each below a line that shows its place; `None` where there is none."""
    counts = Counter(old)
    out: list[str] = []
    done = 0  # the lines of *old* that the hunks so far have covered
    for change in find_changes(old, new):
        start = _opening(old, counts, change, done)
        if start is None:
            return None
        if not out and start == 0:
            out.append("@@ top")
        elif not out or start > done:
            out.append("@@")
        out += [f"  {line}" for line in old[start : change.start]]
        out += [f"- {line}" for line in old[change.start : change.end]]
        out += [f"+ {line}" for line in new[change.new_start : change.new_end]]
        done = change.end
    return out


def _opening(old: Sequence[str], counts: Counter[str], change: Change, done: int) -> int | None:
    """Return the line to start the hunk with: one that occurs once, or the end of the last hunk."""
    for place in range(change.start, max(done, change.start - _MAX_CONTEXT) - 1, -1):
        # The line must be shown: as context above the change, or as removed.
        if place == done or (place < change.end and counts[old[place]] == 1):
            return place
    return None


def apply_changes(changes: str, earlier: str) -> str:
    """Give the text back from which `changes` was made against the same *earlier* read.

    Raises `FormatError` if the changes do not fit.
    """
    if changes == _SAME:
        return earlier
    heading, _, body = changes.partition("\n")
    if heading not in (_HEADING, _NUMBERS):
        raise unreadable("rereads", heading)
    old = _read(earlier) if heading == _NUMBERS else _Read(earlier.split("\n"))
    lines = _patched(old.lines, body.split("\n"))
    return replace(old, lines=lines).text()


def _patched(old: list[str], hunks: list[str]) -> list[str]:
    places = {line: place for place, line in enumerate(old)}
    out: list[str] = []
    place = 0
    is_opening = False
    for line in hunks:
        sign, body = line[:1], line[2:]
        if line == "@@":
            is_opening = True
            continue
        if line == "@@ top":
            continue
        if is_opening:
            start = places.get(body, -1)
            if start < place or sign not in (" ", "-"):
                raise unreadable("rereads", line)
            out += old[place:start]
            place = start
            is_opening = False
        if sign == "+":
            out.append(body)
            continue
        if sign not in (" ", "-") or place >= len(old) or old[place] != body:
            raise unreadable("rereads", line)
        if sign == " ":
            out.append(body)
        place += 1
    return out + old[place:]


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
        head = _count_equal(zip(old[at_old:i], new[at_new:j], strict=False))
        start, new_start = at_old + head, at_new + head
        ends = reversed(old[start:i]), reversed(new[new_start:j])
        tail = _count_equal(zip(*ends, strict=False))
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


def _count_equal(pairs: Iterable[tuple[str, str]]) -> int:
    """Count how many pairs are of equal lines, up to the first that is not."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
