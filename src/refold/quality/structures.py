"""Counting what has a structure in a text: blocks, objects, tables."""

from __future__ import annotations

from typing import Final

_FENCE: Final = "```"
_MAX_INDENT: Final = 3
_MIN_ROWS: Final = 2


def count_structures(text: str) -> int:
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
