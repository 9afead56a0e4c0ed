"""Fenced code: where it is, and how the prose around it is shortened in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from refold.lazy import regex
from refold.scan.runs import Span

LEAST_PROSE: Final = 80  # characters; a text with code and less prose stays as it is
_SHORT_PROSE: Final = 60  # a shorter stretch of prose between code stays as it is
_LEAST_ROOM: Final = 40  # the least length of a summary of such a stretch
_MARKS: Final = regex("```|~~~")
# An opening fence may carry an info string, but backticks in it would make it inline code. Models
# also open fences after text on the same line; then only a language may follow.
_OPENING: Final = regex(
    r"^[ \t]*+(?P<marks>`{3,}+(?=[^`\n]*+$)|~{3,5}+(?!~))[^\n]*+$"
    r"|(?<=[^\n`])(?P<late>`{3})[\w+#.-]*+$",
    re.M,
)


def fences(text: str) -> Iterator[Span]:
    """Yield the fenced code of *text*; a fence that is never closed runs to its end."""
    start = done = 0
    opened = ""
    for mark in _MARKS.finditer(text):
        if mark.start() < done:
            continue  # the same line
        line = text.rfind("\n", 0, mark.start()) + 1
        end = text.find("\n", mark.start())
        done = len(text) if end < 0 else end
        if opened:
            bare = text[line:done].strip(" \t\r")
            if bare.startswith(opened) and not bare.strip(opened[0]):
                yield start, done
                opened = ""
        elif opening := _OPENING.search(text, line, done):
            start, opened = opening.start(), opening["marks"] or opening["late"]
    if opened:
        yield start, len(text)


def has_fence(text: str) -> bool:
    """Tell whether any line of *text* opens a fence."""
    return ("```" in text or "~~~" in text) and next(fences(text), None) is not None


def prose_around(text: str) -> list[Span]:
    """Return the stretches between the fences of *text*."""
    stretches: list[Span] = []
    at = 0
    for start, end in fences(text):
        stretches.append((at, start))
        at = end
    return [(start, end) for start, end in (*stretches, (at, len(text))) if end > start]


def has_prose(text: str) -> bool:
    """Tell whether there is enough prose around the code of *text* to shorten."""
    return sum(len(text[a:b].strip()) for a, b in prose_around(text)) >= LEAST_PROSE


def shorten_around(
    text: str, budget: Callable[[int], int], make_tag: Callable[[str, int], str]
) -> str:
    """Replace each stretch of prose in *text* by its tag, where that is shorter.

    *budget* gives the room for all prose together, which is divided by length; *make_tag* makes
    the tagged summary of a stretch, given its room.
    """
    stretches = [(a, b, len(text[a:b].strip())) for a, b in prose_around(text)]
    total = sum([size for _, _, size in stretches])
    share = min(1.0, budget(total) / max(total, 1))
    pieces: list[str] = []
    done = 0
    for start, end, size in stretches:
        if size < _SHORT_PROSE:
            continue
        prose = text[start:end].strip()
        tag = make_tag(prose, max(_LEAST_ROOM, int(size * share + 0.5)))
        if len(tag) < size:
            first = text.index(prose, start)
            pieces += (text[done:first], tag)
            done = first + size
    return "".join([*pieces, text[done:]])
