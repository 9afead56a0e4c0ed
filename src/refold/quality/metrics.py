"""Measures of what a folded conversation still shows, taken from its text and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from refold.native import scanner
from refold.result import Quality

_FENCE: Final = "```"
_MAX_INDENT: Final = 3
_MIN_ROWS: Final = 2


def measure_quality(
    before: Sequence[Sequence[str]],
    after: Sequence[Sequence[str]],
    place_after: Sequence[int],
    names: Callable[[str], Collection[str]],
) -> Quality:
    """Compare the texts of a conversation before and after, message by message.

    *place_after* tells for each message before which message after stands in its place; *names*
    finds what a text names. Coherence is the share of the names still in use that are still said
    where they were said first.
    """
    introduced = _introduced(before, place_after, names)
    found: set[str] = set()
    in_place = 0
    for place, texts in enumerate(after):
        shown = names(texts[0]) if len(texts) == 1 else set[str]().union(*map(names, texts))
        for name in shown:
            first = introduced.get(name)
            if first is not None:
                found.add(name)
                in_place += first == place
    in_use = len(found)
    retention = in_use / len(introduced) if introduced else 1.0
    integrity = _share(_count_structures(after), _count_structures(before))
    coherence = in_place / in_use if in_use else 1.0
    return Quality(
        entity_retention=round(retention, 3),
        structural_integrity=round(integrity, 3),
        reference_coherence=round(coherence, 3),
        quality_score=round(min(1.0, 0.4 * retention + 0.4 * integrity + 0.2 * coherence), 3),
    )


def _introduced(
    before: Sequence[Sequence[str]],
    place_after: Sequence[int],
    names: Callable[[str], Collection[str]],
) -> dict[str, int]:
    """Map each name to the message after that stands where it was first said."""
    introduced: dict[str, int] = {}
    for number in range(len(before) - 1, -1, -1):  # backwards, so that the first mention stands
        place = place_after[number]
        for text in before[number]:
            for name in names(text):
                introduced[name] = place
    return introduced


def _count_structures(messages: Sequence[Sequence[str]]) -> int:
    count = structures if scanner is None else scanner.structures
    total = 0
    for texts in messages:
        for text in texts:
            total += count(text)
    return total


def _share(part: int, whole: int) -> float:
    return min(1.0, part / whole) if whole else 1.0


def structures(text: str) -> int:
    """Count fenced blocks, brackets that open on a line of their own, and a table."""
    # Looking for one letter is many times faster than for two, and mostly enough.
    blocks = rows = 0
    if "`" in text and _FENCE in text:
        blocks = _fences(text) // 2
    if "|" in text and ("\n|" in text or text.startswith("|")):
        rows = sum(map(_is_row, text.split("\n")))
    return blocks + _lone(text, "{") + _lone(text, "[") + (rows >= _MIN_ROWS)


def _fences(text: str) -> int:
    """Count the lines that begin with a fence, indented a little at most."""
    count = 0
    place = text.find(_FENCE)
    while place >= 0:
        start = text.rfind("\n", 0, place) + 1
        if place - start <= _MAX_INDENT and not text[start:place].strip(" "):
            count += 1
        end = text.find("\n", place)
        place = text.find(_FENCE, end) if end >= 0 else -1
    return count


def _lone(text: str, bracket: str) -> int:
    """Count the lines that are nothing but *bracket*."""
    if bracket in text and (f"\n{bracket}" in text or text.startswith(bracket)):
        return text.split("\n").count(bracket)
    return 0


def _is_row(line: str) -> bool:
    return len(line) > 1 and line.startswith("|") and line.endswith("|")
