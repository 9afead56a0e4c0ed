"""A text as it reads without its line breaks or escapes, and where each character was."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from refold.scan.runs import Span

_INNER: Final = "[A-Za-z0-9_-]"
_BREAK: Final = re.compile(
    "|".join(
        rf"{first}(?<={_INNER}{first}){rest}(?={_INNER})"
        for first, rest in (
            (r"\\", r"\r?\n[ \t>|]*+"),
            (r"\r", r"\n[ \t>|]*+"),
            (r"\n", r"[ \t>|]*+"),
            ('"', r"[ \t]*+[\\+]?\r?\n[ \t]*+\""),
            ("'", r"[ \t]*+[\\+]?\r?\n[ \t]*+'"),
        )
    )
)
"""A line break inside a word, or between the halves of a string.

Each way begins with a sign, which can be looked for, and not with a look behind.
"""
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A text with something taken out of it."""

    text: str
    starts: list[int]
    """Where in it a piece begins that was left as it was, or one character for others."""
    moved: list[int]
    """How far behind that the piece was."""

    def span(self, start: int, end: int) -> Span:
        """Return where a piece of the text was."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, place: int) -> int:
        return place + self.moved[bisect_right(self.starts, place) - 1]


def join_lines(text: str) -> Unwrapped | None:
    """Return *text* without the line breaks inside words; None if there are none."""
    return _replaced(text, _BREAK, lambda _: "")


def unescape(text: str) -> Unwrapped | None:
    """Return *text* with the characters that JSON spells as numbers; None if there are none."""
    if "\\u" not in text:
        return None
    return _replaced(text, _ESCAPE, lambda found: chr(int(found[1], 16)))


def _replaced(
    text: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]
) -> Unwrapped | None:
    """Replace what *pattern* finds by at most one character each."""
    pieces: list[str] = []
    starts, moved = [0], [0]
    done = lost = 0
    for found in pattern.finditer(text):
        start, end = found.span()
        char = replace(found)
        pieces += text[done:start], char
        if char:  # it was where the other ones began
            starts.append(start - lost)
            moved.append(lost)
        lost += end - start - len(char)
        starts.append(end - lost)
        moved.append(lost)
        done = end
    if done == 0:
        return None
    pieces.append(text[done:])
    return Unwrapped("".join(pieces), starts, moved)
